package statuspatch

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// moved are the series that are not zero, less what only measures time.
func moved(t *testing.T, g prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	require.NoError(t, err)
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "causeway_status_")
			for _, l := range m.GetLabel() {
				name += " " + l.GetName() + "=" + l.GetValue()
			}
			value := m.GetCounter().GetValue() + m.GetGauge().GetValue()
			if h := m.GetHistogram(); h != nil && !strings.HasSuffix(f.GetName(), "_seconds") {
				value = h.GetSampleSum()
			} else if h != nil {
				value = float64(h.GetSampleCount())
			}
			if value != 0 {
				out[name] = value
			}
		}
	}
	return out
}

func TestTheMetricsAreNamedWellAndStartAtZero(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, RegisterMetrics(registry))
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	assert.Empty(t, problems)

	families, err := registry.Gather()
	require.NoError(t, err)
	series := map[string]int{}
	for _, f := range families {
		series[f.GetName()] = len(f.GetMetric())
		for _, m := range f.GetMetric() {
			assert.Zero(t, m.GetCounter().GetValue(), f.GetName())
			assert.Zero(t, m.GetHistogram().GetSampleCount(), f.GetName())
		}
	}
	assert.Equal(t, map[string]int{
		"causeway_status_active":                    1,
		"causeway_status_cache_age_seconds":         4,
		"causeway_status_commit_duration_seconds":   2,
		"causeway_status_commit_waiters":            2,
		"causeway_status_conflicts_total":           2,
		"causeway_status_deferred_total":            4,
		"causeway_status_instance_writes_total":     2,
		"causeway_status_ledger_objects":            3,
		"causeway_status_parent_writes_total":       6,
		"causeway_status_pending_instances":         1,
		"causeway_status_pending_settled_total":     3,
		"causeway_status_repair_failures_total":     2,
		"causeway_status_repairs_total":             8,
		"causeway_status_review_duration_seconds":   4,
		"causeway_status_reviews_total":             24,
		"causeway_status_unexplained_answers_total": 4,
		"causeway_status_watch_events_total":        4,
		"causeway_status_workloads":                 len(byLabel(nil)),
	}, series)
	assert.ErrorContains(t, RegisterMetrics(registry), "duplicate metrics collector registration attempted")
}

func TestARequestIsCountedOnce(t *testing.T) {
	w := newWorld(t)
	w.put(t, workloadJSON(provisioningJSON()), deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, waitingJSON()))
	before := w.stub.get(resourceInstances, "i0")
	after := with(before, "status", map[string]any{"conditions": []any{crashingJSON()}})
	w.shell.answer(t.Context(), hookInstances, reviewOf(t, before, after), w.instances.review)
	w.writer.close()
	assert.Equal(t, map[string]float64{
		"reviews_total outcome=applied webhook=instances":           1,
		"parent_writes_total cause=request kind=WorkloadDeployment": 1,
		"parent_writes_total cause=request kind=Workload":           1,
		"commit_waiters kind=WorkloadDeployment":                    1,
		"commit_waiters kind=Workload":                              1,
		"commit_duration_seconds kind=WorkloadDeployment":           1,
		"commit_duration_seconds kind=Workload":                     1,
	}, moved(t, w.registry))
}

func TestTheTimeOfAReviewIsThatOfItsHTTPRequest(t *testing.T) {
	w := newWorld(t)
	handler := w.shell.handler(hookWorkloads, w.overlay.workload)
	r := httptest.NewRequest(http.MethodPost, PathWorkloads, strings.NewReader("no review"))
	handler.ServeHTTP(httptest.NewRecorder(), r)
	assert.Equal(t, map[string]float64{"review_duration_seconds webhook=workloads": 1}, moved(t, w.registry))
}

func TestTheOverlaysWritesAreCountedUnlessTheyAreDry(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 1, crashingSummary(longAgo)), instanceJSON(0, 1, crashingJSON()))
	review := reviewOf(t, deploymentJSON(1, 1, crashingSummary(longAgo)), deploymentJSON(1, 1, provisioningJSON()))
	dry := review
	dry.DryRun = ptr.To(true)
	for _, req := range []admission.Request{review, dry} {
		_, got := w.overlay.deployment(t.Context(), req)
		require.Equal(t, outcomeApplied, got)
	}
	assert.Equal(t, map[string]float64{"parent_writes_total cause=overlay kind=WorkloadDeployment": 1}, moved(t, w.registry))
}

func TestAnswersWithoutACauseAreCounted(t *testing.T) {
	for name, tc := range map[string]struct {
		instance map[string]any
		want     map[string]float64
	}{
		"a cause is given": {conditionJSON("Ready", "False", "Failed", "it broke"), map[string]float64{}},
		"a reason that the table lacks": {conditionJSON("Ready", "False", "Haunted", "boo"),
			map[string]float64{"unexplained_answers_total kind=WorkloadDeployment says=unknown_reason": 1}},
		"nothing but that it is being provisioned": {waitingJSON(),
			map[string]float64{"unexplained_answers_total kind=WorkloadDeployment says=default": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(t, deploymentJSON(1, 1, crashingSummary(longAgo)), instanceJSON(0, 1, tc.instance))
			require.NoError(t, w.writer.join(deploymentParent("d1"), causeRequest).wait(t.Context()))
			got := moved(t, w.registry)
			for name := range got {
				if !strings.HasPrefix(name, "unexplained") {
					delete(got, name)
				}
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestWaitersOfACommitAreCounted(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	arrived, release := make(chan struct{}), make(chan struct{})
	w.stub.hook(func(*http.Request) int { close(arrived); <-release; return 0 })
	first := w.writer.join(deploymentParent("d1"), causeRequest)
	<-arrived
	var last *commit
	for range 7 {
		last = w.writer.join(deploymentParent("d1"), causeRequest)
	}
	close(release)
	require.NoError(t, first.wait(t.Context()))
	require.NoError(t, last.wait(t.Context()))
	w.writer.close()
	got := moved(t, w.registry)
	assert.InDelta(t, 1+7, got["commit_waiters kind=WorkloadDeployment"], 0)
	assert.InDelta(t, 2, got["commit_duration_seconds kind=WorkloadDeployment"], 0)
}

func TestRepairsAreCountedByWhyTheyWereNeeded(t *testing.T) {
	for name, tc := range map[string]struct {
		begin func(*loop)
		want  mending
	}{
		"it was wrong at a take-over":       {(*loop).addAll, mendedTakeover},
		"a request had left it to the loop": {func(l *loop) { l.addDeferred(deploymentParent("d1")) }, mendedDeferred},
		"something changed":                 {func(l *loop) { l.add(deploymentParent("d1")) }, mendedChange},
		"the last repair was undone": {func(l *loop) {
			l.addDeferred(deploymentParent("d1"))
			view, _ := l.ledger.Deployment(deploymentParent("d1").UID)
			aim := planDeployment(view, causeRepair, true, false, l.now()).aim
			l.repairs.made(deploymentParent("d1"), aim, l.now().Add(-undonePauseMax))
		}, mendedUndone},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
			l := w.newLoop()
			tc.begin(l)
			w.run(t, l)
			w.eventually(t, crashingSentence)
			require.Eventually(t, func() bool {
				return moved(t, w.registry)["repairs_total cause="+string(tc.want)+" kind=WorkloadDeployment"] == 1
			}, 10*time.Second, time.Millisecond)
			assert.Empty(t, l.origins.why, "what is done is forgotten")
		})
	}
}

func TestAStandbyRemembersNothingOfWhatItIsTold(t *testing.T) {
	w := newWorld(t)
	w.tenure.end()
	l := w.newLoop()
	defer l.queue.ShutDown()
	l.addDeferred(deploymentParent("d1"))
	assert.Zero(t, l.queue.Len())
	assert.Empty(t, l.origins.why)
}

func TestWhatHoldsNowIsShown(t *testing.T) {
	w := newWorld(t)
	said := func(n int, reason string) map[string]any {
		o := workloadJSON(conditionJSON("Available", "False", reason, "..."))
		if reason == "" {
			o = workloadJSON()
		}
		o["metadata"].(map[string]any)["uid"] = "uid-" + strconv.Itoa(n)
		return o
	}
	for i, reason := range []string{"InstanceCrashing", "InstanceCrashing", "CrashLoopBackOff", "Haunted", "none", "other", "Provisioning", "", "Failed"} {
		w.ledger.ObserveWorkload(readWorkload(decoded[workloadObject](t, said(i, reason))))
	}
	w.ledger.ForgetWorkload("uid-8")
	after := readInstance(decoded[instanceObject](t, instanceJSON(0, 1, crashingJSON())))
	require.True(t, w.ledger.Propose(after, after.ResourceVersion, time.Now()))

	now := time.Unix(1000, 0)
	state := newState(w.ledger, w.tenure, func() time.Time { return now })
	heard, silent := &freshness{}, &freshness{}
	heard.heard.Store(now.Add(-90 * time.Second).UnixNano())
	heard.event()
	heard.event()
	state.follow("instances", heard)
	state.follow("workloads", silent)
	require.NoError(t, w.registry.Register(state))
	assert.Equal(t, map[string]float64{
		"active":                                      1,
		"cache_age_seconds resource=instances":        90,
		"watch_events_total resource=instances":       2,
		"ledger_objects resource=instances":           1,
		"ledger_objects resource=workloaddeployments": 1,
		"ledger_objects resource=workloads":           8,
		"pending_instances":                           1,
		"workloads reason=InstanceCrashing":           3,
		"workloads reason=none":                       1,
		"workloads reason=other":                      4,
	}, moved(t, w.registry))

	w.tenure.end()
	assert.NotContains(t, moved(t, w.registry), "active", "0 on a standby")
}

func TestAWatchIsAsFreshAsItsLastEventOrBookmark(t *testing.T) {
	f := &freshness{}
	_, ok := f.age(time.Now())
	assert.False(t, ok, "a watch that has not begun has no age: a plane may have no Workloads")
	f.begin()
	age, ok := f.age(time.Now().Add(time.Minute))
	assert.True(t, ok)
	assert.InDelta(t, time.Minute.Seconds(), age.Seconds(), 5)
	f.UpdateResourceVersion("7")
	age, _ = f.age(time.Now().Add(-time.Hour))
	assert.Zero(t, age, "a clock that was set back makes nothing older than it is")
}
