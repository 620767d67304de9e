package statuspatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

const (
	// loopWorkers repair at the same time, so that ten thousand parents to be
	// repaired leave the API server room for reviews and the lease. One that has
	// waited for loopPatience leaves its repair to end by itself and takes the next
	// parent: one that hangs costs the others 25 ms. A server that makes 40 writes a
	// second sees no more than loopWorkers at a time; of one that is slower still,
	// nobody can tell whether a parent hangs or all are slow, and more of them would
	// only make it worse, so no more than loopSlow are left to themselves. Where
	// more parents than that hang, the others wait for the deadline of their writes,
	// 3 s.
	loopWorkers  = 8
	loopSlow     = 56
	loopPatience = 200 * time.Millisecond

	// A repair that somebody else undoes is made again after a pause that
	// grows. This happens while the overlay cannot be called: the platform's
	// workload controller then undoes every repair of a Workload at once, and
	// each of its writes wakes it again. The first pauses are short because right
	// after a take-over the way to this process is still being published, and the
	// parents are promised to be right by then. From a second on they quadruple:
	// six repairs in the first minute make twelve versions of a Workload, to which
	// the platform adds a few of its own until its caches have caught up.
	undonePauseFirst = 250 * time.Millisecond
	undonePauseLong  = time.Second
	undonePauseMax   = time.Minute

	// A repair that failed is tried again soon, so that the parents are right
	// within 5 s of the API server answering again.
	retryFirst = 100 * time.Millisecond
	retryMax   = time.Second
)

// loop is the repair loop: level-triggered, on the ledger and the writer of the
// request path, so that it finds nothing to do where a request did its work.
type loop struct {
	ledger        *ledger.Ledger
	writer        *writer
	tenure        *tenure
	metrics       *metrics
	replicasReady bool
	degraded      bool
	now           func() time.Time
	log           logr.Logger

	queue   workqueue.TypedRateLimitingInterface[ledger.Parent]
	repairs repairs
	origins origins
	// slow are repairs that no worker waits for any more.
	slow errgroup.Group
}

func newQueue[T comparable](name string) workqueue.TypedRateLimitingInterface[T] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[T](retryFirst, retryMax),
		workqueue.TypedRateLimitingQueueConfig[T]{Name: name})
}

// add has a parent looked at. A standby looks at none: whoever takes over looks
// at all of them.
func (l *loop) add(p ledger.Parent) {
	if l.tenure.held() {
		l.queue.Add(p)
	}
}

// addDeferred has a parent looked at that a request could not write.
func (l *loop) addDeferred(p ledger.Parent) {
	if l.tenure.held() {
		l.origins.note(p, mendedDeferred)
		l.queue.Add(p)
	}
}

// addAll has every parent looked at by a process that has just taken over.
func (l *loop) addAll() {
	for _, p := range l.ledger.Parents() {
		l.origins.note(p, mendedTakeover)
		l.queue.Add(p)
	}
}

// run works until ctx ends.
func (l *loop) run(ctx context.Context) {
	l.slow.SetLimit(loopSlow)
	var group sync.WaitGroup
	for range loopWorkers {
		group.Go(func() {
			for l.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	l.queue.ShutDown()
	group.Wait()
	_ = l.slow.Wait()
}

// next begins one parent's repair and waits for its end if that comes soon. The
// queue does not hand the parent out again before it has ended.
func (l *loop) next(ctx context.Context) bool {
	p, shutdown := l.queue.Get()
	if shutdown {
		return false
	}
	commit := l.begin(p)
	if commit == nil {
		l.queue.Done(p)
		return true
	}
	patience := time.NewTimer(loopPatience)
	defer patience.Stop()
	select {
	case <-commit.done:
		l.end(ctx, p, commit)
	case <-patience.C:
		if !l.slow.TryGo(func() error { l.end(ctx, p, commit); return nil }) {
			l.end(ctx, p, commit)
		}
	}
	return true
}

// rescue is deferred: one parent that cannot be computed must not end the repair
// of all others.
func (l *loop) rescue(p ledger.Parent) {
	if r := recover(); r != nil {
		l.metrics.repairFailed(p.Kind)
		l.log.Error(fmt.Errorf("panic: %v", r), "A parent could not be computed", p.Kind.String(), klog.KObj(p))
		l.queue.AddAfter(p, undonePauseMax)
	}
}

// begin has a parent brought in line; it returns nil if there is nothing to do,
// or not yet.
func (l *loop) begin(p ledger.Parent) *commit {
	defer l.rescue(p)
	if !l.tenure.held() {
		l.done(p)
		return nil
	}
	plan, ok := l.plan(p)
	if !ok {
		l.repairs.forget(p)
		l.done(p)
		return nil
	}
	if len(plan.operations) == 0 {
		l.done(p)
		return nil
	}
	if wait := l.repairs.pause(p, plan.aim, l.now()); wait > 0 {
		l.queue.AddAfter(p, wait)
		return nil
	}
	return l.writer.join(p, causeRepair)
}

// end waits for a repair and has the parent looked at again where it failed.
func (l *loop) end(ctx context.Context, p ledger.Parent, commit *commit) {
	defer l.queue.Done(p)
	defer l.rescue(p)
	err := commit.wait(ctx)
	switch {
	case err == nil:
		why := l.done(p)
		if commit.aim == "" {
			return
		}
		if l.repairs.made(p, commit.aim, l.now()) {
			why = mendedUndone
		}
		l.metrics.repair(p.Kind, why)
		l.log.V(1).Info("Repaired a parent", p.Kind.String(), klog.KObj(p))
	case errors.Is(err, errParentGone):
		l.done(p)
	case errors.Is(err, errNotActive), errors.Is(err, errStillReady):
		// The renewal is late, or the watch is behind.
		l.queue.AddRateLimited(p)
	case errors.Is(err, errTooEarly):
		l.queue.AddAfter(p, l.tenure.untilTakeDown())
	default:
		if ctx.Err() == nil {
			l.metrics.repairFailed(p.Kind)
			l.log.Info("A parent could not be repaired; trying again", p.Kind.String(), klog.KObj(p), "reason", err.Error())
		}
		l.queue.AddRateLimited(p)
	}
}

// done lets go of what is remembered of a parent that needs nothing more, and
// tells why it was looked at.
func (l *loop) done(p ledger.Parent) mending {
	l.queue.Forget(p)
	return l.origins.take(p)
}

// plan is what the ledger says a parent lacks; ok is false where it does not
// hold the parent.
func (l *loop) plan(p ledger.Parent) (plan, bool) {
	if p.Kind == ledger.KindDeployment {
		view, ok := l.ledger.Deployment(p.UID)
		if !ok {
			return plan{}, false
		}
		return planDeployment(view, causeRepair, l.replicasReady, l.degraded, l.now()), true
	}
	view, ok := l.ledger.Workload(p.UID)
	if !ok {
		return plan{}, false
	}
	return planWorkload(view, l.degraded, l.now()), true
}

// repairs remembers, for each parent that was repaired of late, what it was
// made to say, to tell a repair that is undone from a new one.
type repairs struct {
	mu   sync.Mutex
	last map[ledger.Parent]repair
}

type repair struct {
	aim   string
	at    time.Time
	pause time.Duration
}

// pause is how long a repair with this aim has to wait: not at all, unless it
// is the last one over again.
func (r *repairs) pause(p ledger.Parent, aim string, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, ok := r.last[p]
	if !ok || last.aim != aim {
		return 0
	}
	return last.at.Add(last.pause).Sub(now)
}

// made notes a repair and tells whether it had been made before and was undone.
// A repair that held for two of the longest pauses is forgotten: what comes
// after it is a new story.
func (r *repairs) made(p ledger.Parent, aim string, now time.Time) (undone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[ledger.Parent]repair{}
	}
	last, ok := r.last[p]
	undone = ok && last.aim == aim && now.Sub(last.at) < 2*undonePauseMax
	next := repair{aim: aim, at: now, pause: undonePauseFirst}
	if undone {
		growth := time.Duration(2)
		if last.pause >= undonePauseLong {
			growth = 4
		}
		next.pause = min(growth*last.pause, undonePauseMax)
	}
	r.last[p] = next
	return undone
}

func (r *repairs) forget(p ledger.Parent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.last, p)
}
