package statuspatch

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// A repair that somebody undoes at once is spaced out; a new one is not.
func TestRepairsThatAreUndoneAreSpacedOut(t *testing.T) {
	var r repairs
	p := ledger.Parent{Kind: ledger.KindWorkload, Namespace: "shop", Name: "api", UID: "u"}
	now := time.Unix(0, 0)

	made := 0
	for end := now.Add(time.Minute); now.Before(end); {
		if wait := r.pause(p, "down", now); wait > 0 {
			now = now.Add(wait)
			continue
		}
		made++
		assert.Equal(t, made > 1, r.made(p, "down", now), "undone")
	}
	assert.LessOrEqual(t, made, 6, "repairs in a minute of being undone at once")

	assert.Zero(t, r.pause(p, "up", now), "another repair waits for none")
	assert.False(t, r.made(p, "up", now))

	r.made(p, "down", now)
	now = now.Add(time.Hour)
	assert.False(t, r.made(p, "down", now), "what held for an hour was not undone")

	r.forget(p)
	assert.Zero(t, r.pause(p, "down", now))
	assert.Empty(t, r.last)
}

// startLoop runs the world's repair loop until the test ends.
func (w *world) startLoop(t *testing.T) *loop {
	t.Helper()
	l := w.newLoop()
	w.run(t, l)
	return l
}

func (w *world) newLoop() *loop {
	return &loop{
		ledger: w.ledger, writer: w.writer, tenure: w.tenure, metrics: w.metrics,
		replicasReady: true, now: time.Now, queue: newQueue[ledger.Parent](""),
	}
}

func (w *world) run(t *testing.T, l *loop) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { l.run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
}

func (w *world) eventually(t *testing.T, want string) {
	t.Helper()
	require.Eventually(t, func() bool { return w.available(t, resourceDeployments, "d1") == want }, time.Minute, time.Millisecond)
}

func TestTheLoopRepairsWhatDiffersAndNothingElse(t *testing.T) {
	w := newWorld(t)
	w.put(t, workloadJSON(provisioningJSON()), deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	l := w.startLoop(t)
	l.addAll()
	w.eventually(t, crashingSentence)
	require.Eventually(t, func() bool { return w.available(t, resourceWorkloads, "api") == crashingSentence }, time.Minute, time.Millisecond)
	l.addAll()
	w.writer.close()
	assert.Equal(t, 2, w.stub.stored())
}

func TestALateRenewalDelaysRepairsAndForgetsNone(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	w.tenure.renewed.Store(w.tenure.elapsed() - int64(leaseFresh))
	require.False(t, w.tenure.active())
	l := w.startLoop(t)
	l.add(deploymentParent("d1"))
	require.Eventually(t, func() bool { return l.queue.NumRequeues(deploymentParent("d1")) > 1 }, time.Minute, time.Millisecond)
	assert.Zero(t, w.stub.stored(), "nothing is written while the renewal is late")
	w.tenure.renewed.Store(int64(100 * time.Hour))
	w.eventually(t, crashingSentence)
}

func TestAStandbyRepairsNothing(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	w.tenure.end()
	l := w.startLoop(t)
	l.add(deploymentParent("d1"))
	assert.Zero(t, l.queue.Len())
}

func TestTheLoopMakesADeploymentWithoutReplicasSayTheDefault(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 0, crashingSummary(longAgo)))
	w.startLoop(t).addAll()
	w.eventually(t, "False InstancesProvisioning: No instances available yet")
}

func TestAFailedRepairIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	var requests atomic.Int32
	w.stub.hook(func(*http.Request) int {
		if requests.Add(1) <= 3 {
			return http.StatusServiceUnavailable
		}
		return 0
	})
	w.startLoop(t).addAll()
	w.eventually(t, crashingSentence)
	assert.InDelta(t, 3, counterValue(t, w.metrics.failures[ledger.KindDeployment]), 0)
}

// Far more parents hang than there are workers, and none of them ends before the
// one that can be written has been.
func TestParentsThatHangDelayNoOther(t *testing.T) {
	const hung = loopSlow
	w := newWorld(t)
	w.writer.timeout = time.Minute // none ends for want of time
	var arrived atomic.Int32
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	w.stub.hook(func(r *http.Request) int {
		if !strings.Contains(r.URL.Path, "/d1/") {
			arrived.Add(1)
			<-held
		}
		return 0
	})
	l := w.startLoop(t)
	t.Cleanup(release) // before the loop ends
	var slow []ledger.Parent
	for n := 2; n < 2+hung; n++ {
		w.put(t, deploymentJSON(n, 1, provisioningJSON()), instanceJSON(n, n, crashingJSON()))
		slow = append(slow, deploymentParent(fmt.Sprintf("d%d", n)))
		l.add(slow[len(slow)-1])
	}
	require.Eventually(t, func() bool { return arrived.Load() == hung }, w.writer.timeout/2, time.Millisecond, "all of them hang")
	for _, p := range slow {
		l.add(p)
	}
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(1, 1, crashingJSON()))
	l.add(deploymentParent("d1"))
	w.eventually(t, crashingSentence)
	assert.Equal(t, 1, w.stub.stored(), "the others hang still")
	w.writer.mu.Lock()
	for _, p := range slow {
		assert.Nil(t, w.writer.lines[p].next, "%s was handed out again before its repair had ended", p.Name)
	}
	w.writer.mu.Unlock()
	release()
	require.Eventually(t, func() bool { return w.stub.stored() == 1+hung }, time.Minute, time.Millisecond)
}

// An API server that answers nobody is not asked for ever more.
func TestRepairsUnderWayAreBounded(t *testing.T) {
	const most, parents = loopWorkers + loopSlow, 2 * (loopWorkers + loopSlow)
	w := newWorld(t)
	var arrived atomic.Int32
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	w.stub.hook(func(*http.Request) int {
		arrived.Add(1)
		<-held
		return 0
	})
	l := w.startLoop(t)
	t.Cleanup(release) // before the loop ends
	for n := 1; n <= parents; n++ {
		w.put(t, deploymentJSON(n, 1, provisioningJSON()), instanceJSON(n, n, crashingJSON()))
		l.add(deploymentParent(fmt.Sprintf("d%d", n)))
	}
	require.Eventually(t, func() bool { return arrived.Load() == most }, w.writer.timeout/2, time.Millisecond)
	require.Never(t, func() bool { return arrived.Load() > most }, 3*loopPatience, time.Millisecond)
	release()
	require.Eventually(t, func() bool { return w.stub.stored() == parents }, 10*time.Second, time.Millisecond)
}

func TestAPanicOverOneParentSparesTheOthers(t *testing.T) {
	w := newWorld(t)
	w.put(t, workloadJSON(provisioningJSON()), deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	l := w.startLoop(t)
	var calls atomic.Int32
	clock := l.now
	l.now = func() time.Time {
		if calls.Add(1) == 1 {
			panic("a fault")
		}
		return clock()
	}
	l.addAll()
	require.Eventually(t, func() bool { return w.stub.stored() == 1 }, time.Minute, time.Millisecond)
}
