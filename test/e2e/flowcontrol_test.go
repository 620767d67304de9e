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

// storm has 64 writers write Instances of the fleet, ten times each, every write
// changing what the parents say. Half of them are service accounts as providers
// are, which without Causeway's own levels would share one with it.
func (f *fleet) storm() *storm {
	f.t.Helper()
	authors := make([]client.Client, writers)
	for n := range authors {
		config := f.Config(environment.Writer)
		if n%2 == 1 {
			config = f.Config(environment.Writer, "system:serviceaccounts")
		}
		authors[n] = f.newAuthor(config)
	}
	r := &storm{}
	began := time.Now()
	var group sync.WaitGroup
	for n, author := range authors {
		group.Go(func() {
			for i := range writesEach {
				to := []fleetState{fleetCrashes, fleetReady}[i%2]
				began := time.Now()
				if err := patchConditions(f.ctx, author, f.instance(n%len(f.deployments), n/len(f.deployments)), to); err != nil {
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
	f.t.Log(r)
	return r
}

// timeouts is how often the API server went on without a webhook's answer.
func (s *scene) timeouts() float64 {
	s.t.Helper()
	return sumOf(s.serverMetrics(), "apiserver_admission_webhook_fail_open_count", "causeway.dev")
}

// calm has storms until one of them costs no webhook its timeout: a machine that
// is busy with something else may be late for reasons that no level cures. Each
// write has to succeed in every one of them.
func (f *fleet) calm() {
	f.t.Helper()
	const tries = 3
	missed := 0.0
	for range tries {
		before := f.timeouts()
		assert.EqualValues(f.t, writers*writesEach, f.storm().succeeded.Load())
		if missed = f.timeouts() - before; missed == 0 {
			return
		}
		f.t.Logf("%v reviews timed out", missed)
	}
	assert.Zero(f.t, missed, "webhooks that timed out, in each of %d storms", tries)
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
// Causeway. Its own requests do not queue behind them.
func TestFlowControl(t *testing.T) {
	s := start(t, environment.Options{DeployOverlay: "status-only", Statuspatch: 1, ControlPlane: twentySeats})
	f := s.newFleet("api", 4, writers/4)
	extra := s.newFleet("observed", 1, 8)
	active := s.active()

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
		close(done)
		group.Wait()
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
	assert.False(t, active.Ended(), "the lease was kept")
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
	f.storm()
	missed := s.timeouts() - before
	t.Logf("%v reviews timed out or found nobody; the lease was lost: %v", missed, active.Ended())
	assert.Greater(t, missed, float64(writers), "reviews that nobody answered")
}
