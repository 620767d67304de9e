package statuspatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

func counterValue(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	var m dto.Metric
	require.NoError(t, c.Write(&m))
	return m.GetCounter().GetValue()
}

func deploymentParent(n string) ledger.Parent {
	return ledger.Parent{Kind: ledger.KindDeployment, Namespace: "shop", Name: n, UID: types.UID("uid-" + n)}
}

// While one write is in flight, everybody who comes shares the next one.
func TestWaitersShareTheNextWrite(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	arrived, release := make(chan struct{}), make(chan struct{})
	var requests atomic.Int32
	w.stub.hook(func(*http.Request) int {
		if requests.Add(1) == 1 {
			close(arrived)
			<-release
		}
		return 0
	})
	first := w.writer.join(deploymentParent("d1"), causeRequest)
	<-arrived
	// A hundred more reviews change the roll-up and wait.
	var commits []*commit
	for i := range 100 {
		w.ledger.ObserveInstance(readInstance(decoded[instanceObject](t, instanceJSON(i, 1, crashingJSON()))))
		commits = append(commits, w.writer.join(deploymentParent("d1"), causeRequest))
	}
	for _, c := range commits[1:] {
		assert.Same(t, commits[0], c, "they share one commit")
	}
	assert.NotSame(t, first, commits[0], "the one in flight was computed before they came")
	close(release)
	require.NoError(t, first.wait(t.Context()))
	require.NoError(t, commits[0].wait(t.Context()))
	assert.Equal(t, 2, w.stub.stored())
	assert.Contains(t, w.available(t, resourceDeployments, "d1"), "100 of 100 instances are repeatedly exiting and restarting")
}

func TestASlowParentDelaysNoOther(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()),
		deploymentJSON(2, 1, provisioningJSON()), instanceJSON(1, 2, crashingJSON()))
	release := make(chan struct{})
	w.stub.hook(func(r *http.Request) int {
		if strings.Contains(r.URL.Path, "/d1/") {
			<-release
		}
		return 0
	})
	slow := w.writer.join(deploymentParent("d1"), causeRequest)
	require.NoError(t, w.writer.join(deploymentParent("d2"), causeRequest).wait(t.Context()))
	close(release)
	require.NoError(t, slow.wait(t.Context()))
}

func TestACancelledWaiterIsReleasedAtOnceAndItsCommitGoesOn(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	release := make(chan struct{})
	w.stub.hook(func(*http.Request) int { <-release; return 0 })
	c := w.writer.join(deploymentParent("d1"), causeRequest)
	gone := errors.New("the client is gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	require.ErrorIs(t, c.wait(ctx), gone)
	close(release)
	require.NoError(t, c.wait(t.Context()))
	assert.Equal(t, crashingSentence, w.available(t, resourceDeployments, "d1"))
}

func TestALineEndsWithItsLastCommit(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	for range 3 {
		require.NoError(t, w.writer.join(deploymentParent("d1"), causeRequest).wait(t.Context()))
	}
	w.writer.close()
	assert.Empty(t, w.writer.lines)
	assert.Equal(t, 1, w.stub.stored(), "what is right already is not written again")
	require.ErrorIs(t, w.writer.join(deploymentParent("d1"), causeRequest).wait(t.Context()), errNotActive, "nothing begins after close")
}

// The writer goes by the newer of the watch and its own last answer; by the
// watch alone each write would conflict with the one before.
func TestTheWriterDoesNotConflictWithItself(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	for i := range 20 {
		o := instanceJSON(i, 1, crashingJSON())
		w.ledger.ObserveInstance(readInstance(decoded[instanceObject](t, o)))
		require.NoError(t, w.writer.join(deploymentParent("d1"), causeRequest).wait(t.Context()))
	}
	assert.Equal(t, 20, w.stub.stored())
	assert.Zero(t, counterValue(t, w.metrics.conflicts[ledger.KindDeployment]))
}

func readyJSON() map[string]any {
	return conditionJSON("Ready", "True", "Available", "Instance is ready")
}

func availableJSON() map[string]any {
	return conditionJSON("Available", "True", "StableInstanceFound", "1/1 instances are ready")
}

func TestNoParentGoesDownInTheFirstSecondAfterTakingOver(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 1, availableJSON()), instanceJSON(0, 1, crashingJSON()))
	began := time.Now()
	w.tenure.now = func() time.Time { return began } // for the loop the second does not pass
	w.tenure.begin()
	require.ErrorIs(t, w.writer.join(deploymentParent("d1"), causeRepair).wait(t.Context()), errTooEarly)
	assert.Contains(t, w.available(t, resourceDeployments, "d1"), "True StableInstanceFound")

	w.tenure.now = time.Now
	began = time.Now()
	w.tenure.begin()
	require.NoError(t, w.writer.join(deploymentParent("d1"), causeRequest).wait(t.Context()))
	assert.GreaterOrEqual(t, time.Since(began), settling, "a request waits the second out")
	assert.Equal(t, crashingSentence, w.available(t, resourceDeployments, "d1"))
}

func TestTheLoopMarksNothingDownThatALiveListShowsReady(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 1, availableJSON()), instanceJSON(0, 1, crashingJSON()))
	w.stub.put(resourceInstances, instanceJSON(0, 1, readyJSON()))
	require.ErrorIs(t, w.writer.join(deploymentParent("d1"), causeRepair).wait(t.Context()), errStillReady)
	assert.Contains(t, w.available(t, resourceDeployments, "d1"), "True StableInstanceFound")

	w.stub.put(resourceInstances, instanceJSON(0, 1, crashingJSON()))
	require.NoError(t, w.writer.join(deploymentParent("d1"), causeRepair).wait(t.Context()))
	assert.Equal(t, crashingSentence, w.available(t, resourceDeployments, "d1"))
}

// A flood of reviews that each change the roll-up, against an API server that
// is not there, leaves neither goroutines nor memory behind.
func TestAFloodLeavesNothingBehind(t *testing.T) {
	w := newWorld(t)
	w.put(t, workloadJSON(provisioningJSON()), deploymentJSON(1, 1, provisioningJSON()))
	w.stub.hook(func(*http.Request) int { return http.StatusServiceUnavailable })
	w.instances.repair = func(ledger.Parent) {}
	before := runtime.NumGoroutine()
	const writers, each = 64, 50
	var group sync.WaitGroup
	for n := range writers {
		group.Go(func() {
			states := []map[string]any{waitingJSON(), crashingJSON()}
			for i := range each {
				old, next := instanceJSON(n, 1, states[i%2]), instanceJSON(n, 1, states[(i+1)%2])
				response, _ := w.instances.review(t.Context(), reviewOf(t, old, next))
				assert.True(t, response.Allowed)
			}
		})
	}
	most := 0
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			most = max(most, runtime.NumGoroutine())
			runtime.Gosched()
		}
	}
	assert.Less(t, most-before, 4*writers, "goroutines beyond those of the writers and the connections")
	assert.Equal(t, ledger.Sizes{Instances: writers, Pending: writers, Deployments: 1, Workloads: 1}, w.ledger.Sizes())
	w.writer.close()
	assert.Empty(t, w.writer.lines)
}

func TestACrowdGathersBeforeTheNextWrite(t *testing.T) {
	for name, tc := range map[string]struct {
		waiters int
		err     error
		took    time.Duration
		want    time.Duration
	}{
		"as long as the last one took": {64, nil, 7 * time.Millisecond, 7 * time.Millisecond},
		"and no longer than a moment":  {64, nil, 2 * time.Second, maxGather},
		"two are a crowd":              {2, nil, 7 * time.Millisecond, 7 * time.Millisecond},
		"who is alone delays nobody":   {1, nil, 7 * time.Millisecond, 0},
		"a failure is delay enough":    {64, errTooEarly, 7 * time.Millisecond, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				(&writer{ctx: t.Context()}).gather(&commit{waiters: tc.waiters, err: tc.err}, tc.took)
				assert.Equal(t, tc.want, time.Since(began))
			})
		})
	}
}

// The process ends, so nobody joins any more.
func TestNobodyGathersWhenTheProcessEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		(&writer{ctx: ctx}).gather(&commit{waiters: 64}, time.Second)
		assert.Zero(t, time.Since(began))
	})
}

// slowServer is an API server that takes a while, in virtual time, and stores
// nothing, so that each commit has something to write.
type slowServer func() map[string]any

// RoundTrip satisfies http.RoundTripper.
func (a slowServer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := json.Marshal(a())
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}, err
}

// The line itself gathers: who comes in the moment after a crowd's write shares
// the next one.
func TestWhoComesWhileACrowdGathersSharesTheNextWrite(t *testing.T) {
	const takes = 10 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		var began []time.Duration
		start, version := time.Now(), 100
		a, err := newAPI(&rest.Config{Host: "http://api", Transport: slowServer(func() map[string]any {
			began = append(began, time.Since(start))
			time.Sleep(takes) // virtual: inside synctest
			version++
			o := deploymentJSON(1, 1, provisioningJSON())
			o["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(version)
			return o
		})})
		require.NoError(t, err)
		m, err := newMetrics(prometheus.NewRegistry())
		require.NoError(t, err)
		l, held := ledger.New(nil), newTenure(time.Now)
		held.epoch = time.Now().Add(-time.Hour)
		held.since.Store(1)
		held.renewed.Store(int64(100 * time.Hour))
		w := &writer{
			api: a, ledger: l, tenure: held, metrics: m,
			now: time.Now, timeout: time.Second, ctx: t.Context(), lines: map[ledger.Parent]*line{},
		}
		l.ObserveDeployment(readDeployment(decoded[deploymentObject](t, deploymentJSON(1, 1, provisioningJSON()))))
		l.ObserveInstance(readInstance(decoded[instanceObject](t, instanceJSON(0, 1, crashingJSON()))))

		p := deploymentParent("d1")
		w.join(p, causeRequest)
		synctest.Wait() // the first write is under way
		crowd := w.join(p, causeRequest)
		w.join(p, causeRequest)
		time.Sleep(takes)
		synctest.Wait() // the crowd's write is
		next := w.join(p, causeRequest)
		require.NoError(t, crowd.wait(t.Context()))
		synctest.Wait()
		assert.Same(t, next, w.join(p, causeRequest))
		require.NoError(t, next.wait(t.Context()))
		w.close()
		assert.Equal(t, []time.Duration{0, takes, 3 * takes}, began, "one alone, the crowd, and after it has gathered the next")
	})
}
