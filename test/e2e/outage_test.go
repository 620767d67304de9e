package e2e

import (
	"net/http"
	"strings"
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
		active := s.active()
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
		active := s.active()
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
	expired := func() (refused []string) {
		for _, e := range s.Proxy.WatchErrors() {
			if strings.Contains(e, "/instances ") && strings.Contains(e, `"reason":"Expired"`) && strings.Contains(e, `"code":410`) {
				refused = append(refused, e)
			}
		}
		return refused
	}
	require.Empty(t, expired(), "the watch has not been let through yet")
	before := lists()
	s.Proxy.SetFault(nil)
	s.within(promise, "the parents to be true", f.all(fleetCrashes))
	assert.Len(t, expired(), 1, "watches that the API server refused since the version is gone, of %q", s.Proxy.WatchErrors())
	assert.Greater(t, lists(), before, "it listed anew")
	t.Log(expired())
}

// The API server, or the way to it, is away for so long that every pause between
// two tries has grown to its longest.
func TestALongOutage(t *testing.T) {
	const (
		outage = 40 * time.Second
		// watchPause is the longest that a watch waits before it is tried again:
		// 2 s and a jitter of a fifth; the rest is for what is asked before.
		watchPause = 3 * time.Second
	)
	for name, away := range map[string]func(*scene, *fleet) (back func()){
		// The last thing that happened is that a write of the parents failed.
		"the API server": func(s *scene, f *fleet) func() {
			s.Proxy.SetFault(environment.On(environment.ParentWrites, environment.Answer(http.StatusInternalServerError, 0)))
			require.NoError(s.t, patchConditions(s.ctx, s.customer, f.instance(0, 0), fleetCrashes))
			s.StopAPIServer()
			s.Proxy.SetFault(nil)
			return func() { require.NoError(s.t, s.StartAPIServer(s.ctx)) }
		},
		// Nobody was asked about the write, and its event was missed.
		"the way to it": func(s *scene, f *fleet) func() {
			active := s.StatusFront.Active()
			s.Proxy.SetGone(true)
			s.ended(active)
			require.NoError(s.t, patchConditions(s.ctx, s.customer, f.instance(0, 0), fleetCrashes))
			return func() { s.Proxy.SetGone(false) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits for most of a minute and does little else
			s := start(t, environment.Options{DeployOverlay: "status-only", Statuspatch: 2, Proxy: true})
			f := s.newFleet("api", 1, 1)
			began := time.Now()
			back := away(s, f)
			s.waitFor("the outage to have lasted", func() (bool, string) {
				return time.Since(began) >= outage, time.Since(began).String()
			})
			back()
			answers := time.Now()
			asked := s.Proxy.Seen("/instances?")
			s.waitFor("a watch to be tried again", func() (bool, string) {
				if s.Proxy.Seen("/instances?") > asked {
					return true, ""
				}
				// It may have been by the time that the API server answered.
				return f.all(fleetCrashes)()
			})
			tried := time.Since(answers)
			s.waitFor("the parents to be true", f.all(fleetCrashes))
			took := time.Since(answers)
			t.Logf("after %s: the watch was tried again after %s, the parents were true after %s",
				answers.Sub(began).Round(time.Second), tried.Round(time.Millisecond), took.Round(time.Millisecond))
			assert.LessOrEqual(t, tried, watchPause, "what the back-off of the watches adds")
			assert.LessOrEqual(t, took, promise, "the parents to be true after the API server answers")
		})
	}
}

// An API server that crashes takes a write of the parents with it, and
// everybody's connections. A process without it for 2 s ends, for it may not be
// the active one any more; its standby lives through and takes over.
func testAPIServerRestart(s *scene) {
	t := s.t
	f := s.newFleet("restart", 1, 1)
	active := s.active()
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
