package statuspatch

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

const (
	// announceAfter is how long a stored reason is left alone before it is told:
	// what changes back within it is no news.
	announceAfter = time.Second
	// standbyAfter is how far behind a standby notes what was told. The active
	// process may die before it has told; the lease then runs out in 3 s, and
	// whoever takes over must still find the news untold.
	standbyAfter = 6 * time.Second
	// unsettledMost is how long a contribution that was never stored can be
	// believed: it is read live after settleAfter. On a parent whose Instances
	// change all the time, what has been stored for longer is true.
	unsettledMost = settleAfter + settleTimeout + announceAfter
	// announceEvery is the least between two events on one parent. The recorder
	// makes one event with a count of those that say the same.
	announceEvery = 5 * time.Second

	// A storm of failures makes at most this many events, in a second and at
	// once; the rest waits.
	eventRate  = 10
	eventBurst = 100
)

// announcer tells of the reasons that are stored, as Events on both kinds of
// parents: a Warning when a failure becomes the reason of Available or gives way
// to another, a Normal one when Available is True again.
//
// It goes by stored versions alone. A status review speaks of a write that may
// never be stored, and its parents are written before anybody can know; so
// nothing is told of a parent that is unsettled, nor of one whose stored status
// is not what it should be.
type announcer struct {
	ledger *ledger.Ledger
	tenure *tenure
	// plan is what a parent lacks, as the repair loop sees it.
	plan func(ledger.Parent) (plan, bool)
	// record hands an event over. It must not block.
	record func(p ledger.Parent, n news)
	now    func() time.Time
	limit  *rate.Limiter
	queue  workqueue.TypedRateLimitingInterface[ledger.Parent]

	mu     sync.Mutex
	queued map[ledger.Parent]bool
	told   map[ledger.Parent]*told
}

func newAnnouncer(l *ledger.Ledger, t *tenure, plan func(ledger.Parent) (plan, bool), record func(ledger.Parent, news)) *announcer {
	return &announcer{
		ledger: l, tenure: t, plan: plan, record: record, now: time.Now,
		limit: rate.NewLimiter(eventRate, eventBurst), queue: newQueue[ledger.Parent]("causeway_events"),
		queued: map[ledger.Parent]bool{}, told: map[ledger.Parent]*told{},
	}
}

// add has a parent looked at in a while. It is called for every change.
func (a *announcer) add(p ledger.Parent) {
	a.mu.Lock()
	known := a.queued[p]
	a.queued[p] = true
	a.mu.Unlock()
	if known {
		return
	}
	if a.tenure.held() {
		a.queue.AddAfter(p, announceAfter)
	} else {
		a.queue.AddAfter(p, standbyAfter)
	}
}

// begin takes what is stored when the watch of a kind begins for told: whoever
// was active before has done so.
func (a *announcer) begin(kind ledger.Kind) {
	for _, p := range a.ledger.Parents() {
		if p.Kind != kind {
			continue
		}
		if have, ok := a.stored(p); ok {
			a.mu.Lock()
			a.told[p] = &told{failure: have.failure(), seen: have, since: a.now()}
			a.mu.Unlock()
		}
	}
}

// run works until ctx ends. There is no I/O in it, so one worker will do.
func (a *announcer) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, a.queue.ShutDown)
	defer stop()
	for {
		p, shutdown := a.queue.Get()
		if shutdown {
			return
		}
		a.mu.Lock()
		delete(a.queued, p)
		a.mu.Unlock()
		if wait := a.look(p); wait > 0 {
			a.queue.AddAfter(p, wait)
		}
		a.queue.Done(p)
	}
}

// look tells what there is to tell of a parent, or how long to wait before it is
// looked at again.
func (a *announcer) look(p ledger.Parent) (wait time.Duration) {
	t := a.note(p)
	if t == nil {
		return 0
	}
	n, ok := t.news()
	switch {
	case !ok:
		return 0
	case !a.tenure.held():
		t.failure = t.seen.failure()
		return 0
	}
	now := a.now()
	switch plan, ok := a.plan(p); {
	case !ok:
		return 0
	case len(plan.operations) > 0, !a.tenure.active(),
		a.ledger.Unsettled(p) && now.Sub(t.since) < unsettledMost:
		return announceAfter
	}
	if wait := announceEvery - now.Sub(t.at); wait > 0 {
		return wait
	}
	if !a.limit.AllowN(now, 1) {
		return announceAfter
	}
	t.failure, t.at = t.seen.failure(), now
	a.record(p, n)
	return 0
}

// note keeps what is stored of a parent. The answer is the worker's until it
// notes again; nil for a parent that is gone.
func (a *announcer) note(p ledger.Parent) *told {
	have, ok := a.stored(p)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !ok {
		delete(a.told, p)
		return nil
	}
	t := a.told[p]
	if t == nil {
		t = &told{}
		a.told[p] = t
	}
	// The counts in a message may change all the time; what is told is the reason.
	if t.since.IsZero() || t.seen.status != have.status || t.seen.failure() != have.failure() {
		t.since = a.now()
	}
	t.seen = have
	return t
}

// stored is the stored Available of a parent; ok is false where the ledger does
// not hold it, or it is left alone.
func (a *announcer) stored(p ledger.Parent) (availability, bool) {
	if p.Kind == ledger.KindDeployment {
		view, ok := a.ledger.Deployment(p.UID)
		if !ok || view.Deleting {
			return availability{}, false
		}
		return availabilityOf(view.Conditions.Available), true
	}
	view, ok := a.ledger.Workload(p.UID)
	if !ok || view.Deleting {
		return availability{}, false
	}
	return availabilityOf(view.Conditions.Available), true
}
