package statuspatch

import (
	"context"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
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
	const late = leaseRetry * 22 / 10 // a retry comes after 1 to 2.2 retry periods
	assert.LessOrEqual(t, late+leaseDuration+late+settling, 4900*time.Millisecond, "which leaves a moment of the promised 5 s for the repair")
	// One renewal may meet a dead connection; the next has to be sent before the
	// lease counts as lost.
	assert.Less(t, leaseRetry+leaseIdle+leasePing+leaseRetry, leaseFresh)
}

// The lease does not share a connection with watches and patches, and one that
// goes silent is given up and dialled anew before the lease is lost.
func TestTheLeaseHasAConnectionOfItsOwn(t *testing.T) {
	peers := make(chan string, 10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peers <- r.Proto + " " + r.RemoteAddr
		status(w, http.StatusNotFound, "none")
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	silence := make(chan struct{})
	a, err := newAPI(&rest.Config{
		Host: server.URL,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		},
		// The first connection falls silent when told.
		Dial: func() func(context.Context, string, string) (net.Conn, error) {
			dialled := 0
			return func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, address)
				if dialled++; dialled == 1 && err == nil {
					return &silentConn{Conn: c, silence: silence, closed: make(chan struct{})}, nil
				}
				return c, err
			}
		}(),
	})
	require.NoError(t, err)
	put := func(client kubernetes.Interface) string {
		_, err := client.CoordinationV1().Leases("x").Update(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "y"}}, metav1.UpdateOptions{})
		if !apierrors.IsNotFound(err) {
			return "failed"
		}
		return <-peers
	}
	first := put(a.lease)
	assert.Contains(t, first, "HTTP/2.0", "which has pings")
	assert.Equal(t, first, put(a.lease), "the connection is kept")
	assert.NotEqual(t, first, put(a.core), "and is not shared")
	close(silence)
	began := time.Now()
	assert.Equal(t, "failed", put(a.lease))
	assert.Less(t, time.Since(began), leaseFresh)
	assert.Equal(t, first, <-peers, "it arrived, and its answer did not")
	assert.NotEqual(t, first, put(a.lease))
}

// A standby that finds the connection broken looks again when the election says,
// not when client-go does.
func TestAReadOfTheLeaseIsTriedOnce(t *testing.T) {
	for name, end := range map[string]func(*net.TCPConn){
		"closed": func(c *net.TCPConn) { _ = c.Close() },
		"reset": func(c *net.TCPConn) {
			_ = c.SetLinger(0)
			_ = c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				tries.Add(1)
				c, _, err := http.NewResponseController(w).Hijack()
				if assert.NoError(t, err) {
					end(c.(*net.TCPConn))
				}
			}))
			defer server.Close()
			a, err := newAPI(&rest.Config{Host: server.URL})
			require.NoError(t, err)
			_, err = a.lease.CoordinationV1().Leases("x").Get(t.Context(), "y", metav1.GetOptions{})
			require.Error(t, err)
			assert.EqualValues(t, 1, tries.Load(), err)
		})
	}
}

// silentConn lets nothing through once silence is closed.
type silentConn struct {
	net.Conn
	silence, closed chan struct{}
	once            sync.Once
}

func (c *silentConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case <-c.silence:
		<-c.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (c *silentConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
