package e2e

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

const (
	// instanceBudget and parentBudget are the longest that a write may be held
	// up: the webhook's timeout, which ends a hung process too, and half a second
	// for the write itself.
	instanceBudget = 3500 * time.Millisecond
	parentBudget   = 2500 * time.Millisecond
)

// Whatever happens between statuspatch and the API server, an Instance's write
// succeeds within its budget.
func TestBudget(t *testing.T) {
	s := start(t, environment.Options{DeployOverlay: "status-only", Statuspatch: 2, Proxy: true})
	s.in("parent writes go wrong", testFaultyParentWrites)
	s.in("the API server is gone", func(s *scene) { testNoAPIServer(s, "gone", s.Proxy.SetGone) })
	s.in("the API server is silent", func(s *scene) { testNoAPIServer(s, "silent", s.Proxy.SetSilent) })
	s.in("the process is stopped", testStoppedProcess)
}

// Whatever the way to the API server does to statuspatch, every Instance write
// succeeds within its budget; what was not done in time is warned of and
// counted, and the loop does it within 5 s of the fault's end.
func testFaultyParentWrites(s *scene) {
	t := s.t
	f := s.newFleet("faulty", 1, 4)
	writer := s.newAuthor(s.Config(environment.Writer))
	active := s.active()

	// The normal case first, by counters: both parents, in the request.
	before := s.metric(active, "causeway_status_deferred_total")
	for n := range f.replicas {
		_, warned := writer.write(s, f.instance(0, n), fleetCrashes)
		assert.Empty(t, warned)
	}
	reached, last := f.all(fleetCrashes)()
	assert.True(t, reached, last)
	assert.Equal(t, before, s.metric(active, "causeway_status_deferred_total"), "nothing was left to the loop")
	assert.Zero(t, s.metric(active, "causeway_status_conflicts_total"))

	for _, tc := range []struct {
		name  string
		begin func()
		cause string
	}{
		{"delayed past the budget", s.parentWrites(environment.Delay(time.Minute)), "budget"},
		{"500", s.parentWrites(environment.Answer(http.StatusInternalServerError, 0)), "api_error"},
		{"429 with Retry-After", s.parentWrites(environment.Answer(http.StatusTooManyRequests, 1)), "api_error"},
		{"429 with a long Retry-After", s.parentWrites(environment.Answer(http.StatusTooManyRequests, 60)), "api_error"},
		{"cut", s.parentWrites(environment.HangUp), "api_error"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			label := `cause="` + tc.cause + `"`
			before := s.metric(active, "causeway_status_deferred_total", label)
			tc.begin()
			to := fleetLacksImage
			if reached, _ := f.all(fleetLacksImage)(); reached {
				to = fleetCrashes
			}
			for n := range f.replicas {
				took, warned := writer.write(s, f.instance(0, n), to)
				t.Logf("write %d: %s %q", n, took.Round(time.Millisecond), warned)
				assert.LessOrEqual(t, took, instanceBudget)
				if assert.Len(t, warned, 1) {
					assert.Contains(t, warned[0], "they follow within seconds")
				}
			}
			assert.Equal(t, before+float64(f.replicas), s.metric(active, "causeway_status_deferred_total", label), "each is counted")
			reached, last := f.all(to)()
			assert.False(t, reached, "the fault did nothing: %s", last)
			s.Proxy.SetFault(nil)
			s.within(promise, "the parents to be true after the fault", f.all(to))
		})
	}
	assert.False(t, active.Ended(), "none of these ends the process")
}

// parentWrites begins a fault for the parents' patches alone: the lease goes on.
func (s *scene) parentWrites(f environment.Fault) func() {
	return func() { s.Proxy.SetFault(environment.On(environment.ParentWrites, f)) }
}

// With the API server gone for statuspatch, or its packets lost, the process
// cannot keep its lease; a standby is there when it can be had again.
func testNoAPIServer(s *scene, name string, gone func(bool)) {
	t := s.t
	f := s.newFleet(name, 1, 4)
	writer := s.newAuthor(s.Config(environment.Writer))
	active := s.active()
	gone(true)
	for n := range f.replicas {
		took, warned := writer.write(s, f.instance(0, n), fleetCrashes)
		t.Logf("write %d: %s %q", n, took.Round(time.Millisecond), warned)
		assert.LessOrEqual(t, took, instanceBudget)
	}
	s.ended(active)
	gone(false)
	s.within(promise, "the parents to be true after the fault", f.all(fleetCrashes))
	s.replace()
}

// replace starts a process for one that ended, as a kubelet does.
func (s *scene) replace() {
	s.t.Helper()
	_, err := s.StartSidecar(s.ctx)
	require.NoError(s.t, err)
}

// ended waits for a process that lost its lease.
func (s *scene) ended(p *environment.Process) {
	s.t.Helper()
	select {
	case <-p.Done():
		assert.Contains(s.t, p.Log(), "the lease was lost")
	case <-time.After(patience):
		s.t.Fatal(p.Name + " goes on without its lease")
	}
}

// A process that is stopped, and does not even close its connections, costs a
// write the webhook's timeout, until a standby takes over.
func testStoppedProcess(s *scene) {
	t := s.t
	f := s.newFleet("stopped", 1, 2)
	writer := s.newAuthor(s.Config(environment.Writer))
	stopped := s.active()
	require.NoError(t, stopped.Signal(syscall.SIGSTOP))
	began := time.Now()

	parent := make(chan time.Duration)
	go func() {
		other := s.newAuthor(s.Config(environment.Customer))
		d := &computeapi.WorkloadDeployment{}
		d.Namespace, d.Name = namespace, f.deployments[0]
		began := time.Now()
		assert.NoError(t, patchCounts(s.ctx, other, d, 1))
		parent <- time.Since(began)
	}()
	took, _ := writer.write(s, f.instance(0, 0), fleetCrashes)
	t.Logf("an Instance's write took %s", took.Round(time.Millisecond))
	assert.LessOrEqual(t, took, instanceBudget)
	took = <-parent
	t.Logf("a parent's write took %s", took.Round(time.Millisecond))
	assert.LessOrEqual(t, took, parentBudget)

	s.waitFor("the standby to be active", func() (bool, string) {
		active := s.StatusFront.Active()
		return active != nil && active != stopped, "none"
	})
	t.Logf("the standby took over %s after the stop", time.Since(began).Round(time.Millisecond))
	s.waitFor("the parents to be true", func() (bool, string) {
		got := f.deploymentSays(f.deployments[0])
		return strings.Contains(got.Message, "1 is repeatedly exiting"), got.Message
	})
	t.Logf("the parents were true %s after the stop", time.Since(began).Round(time.Millisecond))

	require.NoError(t, stopped.Signal(syscall.SIGCONT))
	s.ended(stopped)
	_, warned := writer.write(s, f.instance(0, 1), fleetCrashes)
	assert.Empty(t, warned)
	assert.Equal(t, metav1.ConditionFalse, f.workloadSays(f.workload).Status, "the new one answers")
}
