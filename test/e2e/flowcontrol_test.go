package e2e

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

const (
	// writers write at the same time, each its own Instance, so many times.
	writers    = 64
	writesEach = 10
)

// twentySeats is the smallest API server: 20 requests at a time in all.
var twentySeats = controlplane.Options{APIServerFlags: []string{"--max-requests-inflight=14", "--max-mutating-requests-inflight=6"}}

// storm is what became of the writers' writes.
type storm struct {
	succeeded atomic.Int32
	took      time.Duration
	slowest   atomic.Int64
	failed    sync.Map
}

func (r *storm) String() string {
	text := fmt.Sprintf("%d of %d writes succeeded in %s, the slowest in %s", r.succeeded.Load(), writers*writesEach,
		r.took.Round(time.Millisecond), time.Duration(r.slowest.Load()).Round(time.Millisecond))
	r.failed.Range(func(err, _ any) bool {
		text += fmt.Sprintf("\n%v", err)
		return true
	})
	return text
}

// write is one write of an Instance, the nth of its author.
type write func(a *author, instance string, n int) error

// authors are 64 writers. Half of them are service accounts as providers are,
// which without Causeway's own levels would share one with it.
func (f *fleet) authors() []*author {
	f.t.Helper()
	authors := make([]*author, writers)
	for n := range authors {
		config := f.Config(environment.Writer)
		if n%2 == 1 {
			config = f.Config(environment.Writer, "system:serviceaccounts")
		}
		authors[n] = f.newAuthor(config)
	}
	return authors
}

// storm has each author write an Instance of the fleet ten times, all of them at
// the same time.
func (f *fleet) storm(what string, authors []*author, do write) *storm {
	f.t.Helper()
	r := &storm{}
	began := time.Now()
	var group sync.WaitGroup
	for n, author := range authors {
		group.Go(func() {
			for i := range writesEach {
				began := time.Now()
				if err := do(author, f.instance(n%len(f.deployments), n/len(f.deployments)), i); err != nil {
					r.failed.Store(err.Error(), true)
					continue
				}
				r.succeeded.Add(1)
				for took := int64(time.Since(began)); ; {
					most := r.slowest.Load()
					if took <= most || r.slowest.CompareAndSwap(most, took) {
						break
					}
				}
			}
		})
	}
	group.Wait()
	r.took = time.Since(began)
	f.t.Logf("%s: %s", what, r)
	return r
}

// reviewed is a write that changes what the parents say.
func (f *fleet) reviewed(a *author, instance string, n int) error {
	return patchConditions(f.ctx, a, instance, []fleetState{fleetCrashes, fleetReady}[n%2])
}

// bare is a write of the same object that no webhook is asked about.
func (f *fleet) bare(a *author, instance string, n int) error {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"example.com/n":"%d"}}}`, n)
	i := &computeapi.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: instance}}
	return a.Patch(f.ctx, i, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// timeouts is how often the API server went on without a webhook's answer.
func (s *scene) timeouts() float64 {
	s.t.Helper()
	return sumOf(s.serverMetrics(), "apiserver_admission_webhook_fail_open_count", "causeway.dev")
}

// calm demands of a storm that every write succeeds and no webhook times out.
//
// A review waits for two writes of a parent in a row, the one under way and the
// one it shares, and has 3 s. So the demand makes sense where a write takes a
// fraction of that. Whether it does, a storm of the same writers tells that no
// webhook is asked about, just before and just after: while the slowest of its
// writes takes longer than a quarter of the timeout, the machine is too busy with
// something else, nothing is judged, and all is done again, by another process if
// that cost the first one its lease. That a write fails is no matter of time, and
// is never excused.
func (f *fleet) calm() {
	f.t.Helper()
	const busy = 3 * time.Second / 4
	authors := f.authors()
	tooBusy := func() bool {
		return time.Duration(f.storm("no webhook asked", authors, f.bare).slowest.Load()) > busy
	}
	deadline := time.Now().Add(patience)
	for before := tooBusy(); ; {
		count := f.timeouts()
		assert.EqualValues(f.t, writers*writesEach, f.storm("reviewed", authors, f.reviewed).succeeded.Load())
		missed, lost := f.timeouts()-count, f.Sidecars[0].Ended()
		if missed == 0 && !lost {
			return
		}
		after := tooBusy()
		if !before && !after {
			require.Zero(f.t, missed, "webhooks that timed out, though the machine had time")
			require.False(f.t, lost, "the lease was lost, though the machine had time")
		}
		f.keepRunning()
		f.active()
		f.t.Logf("%v webhooks timed out on a machine that is too busy to tell why", missed)
		require.True(f.t, time.Now().Before(deadline), "the machine is too busy to show anything")
		before = after
	}
}

// waits tells how long requests of a level waited for a seat: how many there
// were, how many of them waited for longer than limit, a bound of the server's
// histogram, and how long all of them took to execute.
func (s *scene) waits(level, limit string) (all, longer float64, text string) {
	s.t.Helper()
	metrics, label := s.serverMetrics(), `priority_level="`+level+`"`
	const wait, execution = "apiserver_flowcontrol_request_wait_duration_seconds", "apiserver_flowcontrol_request_execution_seconds"
	all = sumOf(metrics, wait+"_count", label)
	longer = all - sumOf(metrics, wait+"_bucket", label, `le="`+limit+`"`)
	return all, longer, fmt.Sprintf("%s: %v requests, %v waited for more than %s s, on average %.0f ms; they took %.0f ms", level, all, longer, limit,
		1000*sumOf(metrics, wait+"_sum", label)/all, 1000*sumOf(metrics, execution+"_sum", label)/sumOf(metrics, execution+"_count", label))
}

// On a server of 20 seats, every seat can be held by writes that wait for
// Causeway. Its own requests do not queue behind them. That no webhook times out
// is judged of the binary as it is shipped: the race detector makes it several
// times slower, and two cores that 64 writers keep busy then cost a timeout now and
// then that no level cures.
func TestFlowControl(t *testing.T) {
	shipped, err := environment.Shipped(t.Context(), t.TempDir())
	require.NoError(t, err)
	s := start(t, environment.Options{Binary: shipped, DeployOverlay: "status-only", Statuspatch: 1, ControlPlane: twentySeats})
	f := s.newFleet("api", 4, writers/4)
	extra := s.newFleet("observed", 1, 8)
	s.active()

	s.in("the writers alone", func(s *scene) {
		f.calm()
		s.waitFor("the parents to be true", f.isTrue)
	})

	// Causeway patches Instances itself, too, on planes that have Pods. Such a
	// patch waits for the parents' writes, and so may not take their seats, nor
	// keep the lease waiting.
	s.in("with Instance patches of Causeway's own", func(s *scene) {
		s.allowInstancePatches()
		account, err := s.ServiceAccountConfig(s.ctx, environment.Namespace, environment.ServiceAccount)
		require.NoError(t, err)
		own := s.newAuthor(account)
		var stored, failed atomic.Int32
		done := make(chan struct{})
		var group sync.WaitGroup
		stop := sync.OnceFunc(func() { close(done); group.Wait() })
		defer stop()
		for n := range extra.replicas {
			group.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-done:
						return
					default:
					}
					to := []fleetState{fleetCrashes, fleetReady}[i%2]
					if err := patchConditions(s.ctx, own, extra.instance(0, n), to); err != nil {
						failed.Add(1)
						s.t.Logf("an Instance patch of Causeway's own: %v", err)
						continue
					}
					stored.Add(1)
				}
			})
		}
		f.calm()
		stop()
		assert.Zero(t, failed.Load())
		assert.Positive(t, stored.Load())
		t.Logf("%d Instance patches of Causeway's own meanwhile", stored.Load())
		all, _, _ := s.waits("causeway-instances", "0.2")
		assert.GreaterOrEqual(t, all, float64(stored.Load()), "they were in the level meant for them")
	})
	for level, share := range map[string]float64{
		"causeway-tenure": 0.01, "causeway-reviews": 0.1, // the most that may have waited for so long
		"causeway-instances": 1, "global-default": 1, "workload-low": 1,
	} {
		all, longer, text := s.waits(level, "0.2")
		t.Log(text)
		assert.LessOrEqual(t, longer, share*all, level)
	}
	active := s.active()
	t.Logf("deferred: %v, conflicts: %v, parent writes: %v", s.metric(active, "causeway_status_deferred_total"),
		s.metric(active, "causeway_status_conflicts_total"), s.metric(active, "causeway_status_parent_writes_total"))
}

// allowInstancePatches grants Causeway's account what the observation of Pods
// needs and this overlay does not grant.
func (s *scene) allowInstancePatches() {
	s.t.Helper()
	admin, err := s.Client(controlplane.Installer)
	require.NoError(s.t, err)
	name := metav1.ObjectMeta{Name: "instance-patches"}
	require.NoError(s.t, admin.Create(s.ctx, &rbacv1.ClusterRole{ObjectMeta: name, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{computeapi.Group}, Resources: []string{"instances/status"}, Verbs: []string{"patch"},
	}}}))
	require.NoError(s.t, admin.Create(s.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: environment.Namespace, Name: environment.ServiceAccount}},
	}))
	account, err := s.ServiceAccountConfig(s.ctx, environment.Namespace, environment.ServiceAccount)
	require.NoError(s.t, err)
	own := s.newAuthor(account)
	s.waitFor("the account to be allowed to", func() (bool, string) {
		err := patchConditions(s.ctx, own, platform.InstanceName("none", 0), fleetReady)
		return client.IgnoreNotFound(err) == nil, fmt.Sprint(err)
	})
}

// What the levels are for: without them the same writers starve the requests
// that would release them.
func TestFlowControlIsNeeded(t *testing.T) {
	s := start(t, environment.Options{
		DeployOverlay: "status-only", Statuspatch: 1, ControlPlane: twentySeats,
		Without: []string{
			"FlowSchema/causeway-reviews", "FlowSchema/causeway-tenure", "FlowSchema/causeway-instances",
		},
	})
	f := s.newFleet("api", 4, writers/4)
	active := s.active()
	before := s.timeouts()
	f.storm("reviewed", f.authors(), f.reviewed)
	missed := s.timeouts() - before
	t.Logf("%v reviews timed out or found nobody; the lease was lost: %v", missed, active.Ended())
	assert.Greater(t, missed, float64(writers), "reviews that nobody answered")
}
