package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
)

// The status webhook is left out, so that nothing but the watch can tell
// statuspatch of a write.
func TestLostWatches(t *testing.T) {
	s := start(t, environment.Options{
		DeployOverlay: "status-only", Without: []string{environment.Status}, Statuspatch: 2, Proxy: true,
	})
	f := s.newFleet("api", 1, 1)
	write := func(to fleetState) {
		t.Helper()
		require.NoError(t, patchConditions(s.ctx, s.customer, f.instance(0, 0), to))
	}
	write(fleetCrashes)
	s.within(promise, "the parents to be true while all is well", f.all(fleetCrashes))

	t.Run("cut", func(*testing.T) {
		s.Proxy.Cut()
		write(fleetLacksImage)
		s.within(promise, "the parents to be true", f.all(fleetLacksImage))
	})
	t.Run("silent and never closed", func(t *testing.T) {
		active := s.StatusFront.Active()
		s.Proxy.Freeze()
		write(fleetCrashes)
		s.within(promise, "the parents to be true", f.all(fleetCrashes))
		assert.False(t, active.Ended(), "the lease goes on over a connection of its own")
	})
	t.Run("cut while events were missed and the watch is refused", func(*testing.T) {
		watches := func(r *http.Request) bool { return r.URL.Query().Get("watch") != "" }
		s.Proxy.SetFault(environment.On(watches, environment.Answer(http.StatusTooManyRequests, 1)))
		s.Proxy.Cut()
		write(fleetLacksImage)
		seen := s.Proxy.Seen("/instances", "watch=")
		s.waitFor("the watch to be refused a few times", func() (bool, string) {
			return s.Proxy.Seen("/instances", "watch=") > seen+6, "not yet"
		})
		s.Proxy.SetFault(nil)
		s.within(promise, "the parents to be true", f.all(fleetLacksImage))
	})
	t.Run("silent and back when the lease is lost", func(t *testing.T) {
		active := s.StatusFront.Active()
		s.Proxy.SetSilent(true)
		write(fleetCrashes)
		s.ended(active)
		s.Proxy.SetSilent(false)
		s.within(promise, "the parents to be true", f.all(fleetCrashes))
	})
}

// A watch that comes back to a version that etcd has compacted lists anew.
func TestCompactionWhileTheWatchIsAway(t *testing.T) {
	s := start(t, environment.Options{
		DeployOverlay: "status-only", Without: []string{environment.Status}, Statuspatch: 1, Proxy: true,
		// Without the API server's own cache a watch is answered by etcd.
		ControlPlane: controlplane.Options{APIServerFlags: []string{"--watch-cache=false", "--etcd-compaction-interval=1s"}},
	})
	f := s.newFleet("api", 1, 1)
	list := &computeapi.InstanceList{}
	require.NoError(t, s.customer.List(s.ctx, list, client.InNamespace(namespace)))
	old := list.ResourceVersion

	watches := func(r *http.Request) bool {
		return r.Method == http.MethodGet && r.URL.Query().Get("watch") != ""
	}
	// This answer, unlike others, has client-go try again from the version it has.
	s.Proxy.SetFault(environment.On(watches, environment.Answer(http.StatusTooManyRequests, 1)))
	s.Proxy.Cut()
	require.NoError(t, patchConditions(s.ctx, s.customer, f.instance(0, 0), fleetCrashes))
	s.waitFor("etcd to have compacted", func() (bool, string) {
		err := s.customer.List(s.ctx, &computeapi.InstanceList{}, client.InNamespace(namespace), &client.ListOptions{
			Raw: &metav1.ListOptions{ResourceVersion: old, ResourceVersionMatch: metav1.ResourceVersionMatchExact},
		})
		return apierrors.IsResourceExpired(err) || apierrors.IsGone(err), "version " + old + " is still there"
	})
	well, last := f.isTrue()
	require.True(t, well, "nobody has heard of it yet: %s", last)
	lists := func() int { return s.Proxy.Seen("/instances?") - s.Proxy.Seen("/instances?", "watch=") }
	before := lists()
	s.Proxy.SetFault(nil)
	s.within(promise, "the parents to be true", f.all(fleetCrashes))
	assert.Greater(t, lists(), before, "the watch could not be resumed")
}

// An API server that crashes takes a write of the parents with it, and
// everybody's connections. A process without it for 2 s ends, for it may not be
// the active one any more; its standby lives through and takes over.
func testAPIServerRestart(s *scene) {
	t := s.t
	f := s.newFleet("restart", 1, 1)
	active := s.StatusFront.Active()
	s.Proxy.SetFault(environment.On(environment.ParentWrites, environment.Answer(http.StatusInternalServerError, 0)))
	require.NoError(t, patchConditions(s.ctx, s.customer, f.instance(0, 0), fleetCrashes))
	s.StopAPIServer()
	s.Proxy.SetFault(nil)
	began := time.Now()
	s.ended(active)
	require.NoError(t, s.StartAPIServer(s.ctx))
	t.Logf("the API server was away for %s", time.Since(began).Round(time.Millisecond))
	s.within(promise, "the parents to be true after the API server answers", f.all(fleetCrashes))
}
