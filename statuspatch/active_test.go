package statuspatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lock is a lease whose writes take as long as told.
type lock struct {
	resourcelock.Interface
	takes time.Duration
	err   error
}

func (l *lock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	time.Sleep(l.takes) // virtual: inside synctest
	return l.err
}

func TestTenureCountsFromWhenARenewalWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tenure := newTenure(time.Now)
		assert.False(t, tenure.active(), "before any lease")
		l := &lock{takes: 1500 * time.Millisecond}
		r := renewals{Interface: l, tenure: tenure}
		held := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}

		require.NoError(t, r.Update(t.Context(), held))
		assert.False(t, tenure.active(), "the lease is held, but nothing is taken over yet")
		tenure.begin()
		assert.True(t, tenure.active())
		assert.Equal(t, settling, tenure.untilTakeDown())
		time.Sleep(settling)
		assert.Zero(t, tenure.untilTakeDown())
		assert.False(t, tenure.active(), "2.5 s after the renewal was sent, though 1 s after its answer")

		l.takes = 0
		require.NoError(t, r.Update(t.Context(), held))
		assert.True(t, tenure.active(), "renewed")
		l.err = errors.New("the API server is away")
		time.Sleep(leaseFresh - time.Millisecond)
		require.Error(t, r.Update(t.Context(), held))
		time.Sleep(time.Millisecond)
		assert.False(t, tenure.active(), "a renewal that failed renews nothing")
	})
}

func TestGivingTheLeaseBackEndsTheTenureBeforeItIsWritten(t *testing.T) {
	tenure := newTenure(time.Now)
	tenure.epoch = tenure.epoch.Add(-time.Second)
	r := renewals{Interface: &lock{}, tenure: tenure}
	require.NoError(t, r.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}))
	tenure.begin()
	require.True(t, tenure.active())
	require.NoError(t, r.Update(t.Context(), resourcelock.LeaderElectionRecord{}))
	assert.False(t, tenure.active())
}

// The arithmetic behind leaseRetry: a standby sees a renewal late, and looks
// again late after the lease has run out.
func TestALostProcessIsReplacedWithinThePromise(t *testing.T) {
	const jitter = 2.2 // a retry comes after 1 to 2.2 retry periods
	worst := time.Duration(2*jitter*float64(leaseRetry)) + leaseDuration
	assert.LessOrEqual(t, worst, 4500*time.Millisecond, "which leaves half a second of the promised 5 s for the repair")
}
