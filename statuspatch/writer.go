package statuspatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

var (
	// errNotActive tells that this process is not, or no longer, the one that
	// may write.
	errNotActive = errors.New("this process is not the active one")
	// errTooEarly tells that a parent would go from True to False in the first
	// second after taking over.
	errTooEarly = errors.New("taking over: no parent is marked down in the first second")
	// errStillReady tells that a live list found a ready Instance that the
	// ledger has not heard of yet.
	errStillReady = errors.New("a ready Instance was found that the watch has not delivered yet")
)

// maxAttempts bounds how often one commit computes its parent anew.
const maxAttempts = 8

// writer patches parents, one write in flight for each.
//
// Group commit: a parent that is being written has a line of two commits, the
// one that runs and the one that comes next. Whoever wants the parent written
// joins the next one, which computes its result from the ledger after it has
// begun, hence with the contribution of everybody who joined it; so a thousand
// waiters share two writes, and each waits for one and a half of them at most,
// and for a crowd to gather. No waiter starves: the next commit begins when the
// running one ends, whatever its outcome, and in a crowd a moment later (gather).
// A slow parent delays nobody else: each parent with a line has a goroutine of
// its own, which ends with the line. A waiter that gives up leaves at once; the
// commit goes on under its own deadline.
//
// Locking: mu guards lines and, through it, commit.why and waiters until that
// commit runs. It is held for map operations only. A commit's result is written
// before its done is closed and read after.
type writer struct {
	api           *api
	ledger        *ledger.Ledger
	tenure        *tenure
	metrics       *metrics
	replicasReady bool
	degraded      bool
	now           func() time.Time
	log           logr.Logger
	// timeout bounds one commit, waiters or not.
	timeout time.Duration
	// ctx ends with the process.
	ctx context.Context

	mu     sync.Mutex
	lines  map[ledger.Parent]*line
	closed bool
	group  sync.WaitGroup
}

type line struct{ next *commit }

// commit is one shared computation and, where it is needed, write of a parent.
type commit struct {
	why  cause
	done chan struct{}
	// waiters is how many have joined.
	waiters int
	// aim and err are set when done is closed; aim is empty if nothing had to
	// be written.
	aim string
	err error

	tracing
}

// wait returns the commit's outcome, or the cause of ctx when that ends first.
func (c *commit) wait(ctx context.Context) error {
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// join takes part in the parent's next commit.
func (w *writer) join(p ledger.Parent, why cause) *commit {
	return w.joinTraced(context.Background(), p, why)
}

// joinTraced is join for a request, in whose trace the commit shows; ctx ends
// nothing.
func (w *writer) joinTraced(ctx context.Context, p ledger.Parent, why cause) *commit {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		c := &commit{done: make(chan struct{}), err: errNotActive}
		close(c.done)
		return c
	}
	l := w.lines[p]
	if l == nil {
		l = &line{}
		w.lines[p] = l
		c := &commit{why: why, done: make(chan struct{}), waiters: 1}
		c.follow(ctx)
		w.group.Go(func() { w.serve(p, l, c) })
		return c
	}
	if l.next == nil {
		l.next = &commit{why: why, done: make(chan struct{})}
	}
	l.next.waiters++
	if why == causeRequest {
		// A request knows of a change that a live list cannot show yet.
		l.next.why = causeRequest
	}
	l.next.follow(ctx)
	return l.next
}

// serve runs commits of one parent until nobody has joined another.
func (w *writer) serve(p ledger.Parent, l *line, c *commit) {
	for c != nil {
		began := time.Now()
		w.run(p, c)
		w.gather(c, time.Since(began))
		c = w.advance(p, l)
	}
}

// maxGather bounds what gathering adds to a wait.
const maxGather = 20 * time.Millisecond

// gather lets a crowd join the next commit before it begins, for as long as the
// last one took: a parent that many write is then written half as often and shared
// by twice as many, and what the API server is spared, everybody gets. Who was
// alone delays nobody.
func (w *writer) gather(last *commit, took time.Duration) {
	if last.waiters > 1 && last.err == nil {
		_ = pause(w.ctx, min(took, maxGather))
	}
}

func (w *writer) advance(p ledger.Parent, l *line) *commit {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := l.next
	l.next = nil
	if c == nil {
		delete(w.lines, p)
	}
	return c
}

// run closes done in every case: a panic is an error like any other to those
// who wait.
func (w *writer) run(p ledger.Parent, c *commit) {
	defer close(c.done)
	ctx, cancel := context.WithTimeout(w.ctx, w.timeout)
	defer cancel()
	ctx, span := c.begin(ctx)
	defer func() {
		if r := recover(); r != nil {
			c.err = fmt.Errorf("writing %s %s/%s: panic: %v", p.Kind, p.Namespace, p.Name, r)
		}
		c.endWrite(span, p)
	}()
	w.metrics.committing(p.Kind, c.waiters)
	defer func(began time.Time) { w.metrics.committed(p.Kind, time.Since(began)) }(time.Now())
	c.aim, c.err = w.write(ctx, p, c.why)
}

// write makes one parent's stored status equal to its roll-up.
func (w *writer) write(ctx context.Context, p ledger.Parent, why cause) (aim string, err error) {
	target := w.target(p)
	for range maxAttempts {
		plan, err := target.plan(ctx, why)
		if err != nil || len(plan.operations) == 0 {
			return "", err
		}
		if plan.takesDown {
			if early := w.tenure.untilTakeDown(); early > 0 {
				if why == causeRepair {
					return "", errTooEarly
				}
				// A request has the time, and its writer the right to the truth.
				if err := pause(ctx, early); err != nil {
					return "", err
				}
				continue
			}
			if why == causeRepair {
				if err := w.verifyDown(ctx, p); err != nil {
					return "", err
				}
			}
		}
		patch, err := encodePatch(plan.resourceVersion, plan.operations)
		if err != nil {
			return "", fmt.Errorf("encoding a patch of %s %s/%s: %w", p.Kind, p.Namespace, p.Name, err)
		}
		if !w.tenure.active() {
			return "", errNotActive
		}
		err = target.patch(ctx, patch)
		switch {
		case err == nil:
			w.metrics.write(p.Kind, why, plan.says)
			w.tell(p, plan, why)
			return plan.aim, nil
		case apierrors.IsNotFound(err):
			return "", errParentGone
		case !apierrors.IsConflict(err):
			return "", err
		}
		w.metrics.conflict(p.Kind)
		trace.SpanFromContext(ctx).AddEvent(eventConflict)
		if err := target.refresh(ctx); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("patching the status of %s %s/%s: %d attempts met a newer version each", p.Kind, p.Namespace, p.Name, maxAttempts)
}

// tell writes a line for a reason that changed. What the condition says beside it
// comes from a customer's container, and is in the object for who may read it.
func (w *writer) tell(p ledger.Parent, plan plan, why cause) {
	if plan.was != plan.becomes {
		w.log.Info("Reason changed", p.Kind.String(), klog.KObj(p), "was", plan.was, "reason", plan.becomes, "cause", why)
	}
}

// pause waits, at most until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// verifyDown holds the rule that the loop marks nothing down on the ledger's
// word alone: a live list of the Instances must show none that is ready.
func (w *writer) verifyDown(ctx context.Context, p ledger.Parent) error {
	below := map[types.UID]bool{p.UID: true}
	if p.Kind == ledger.KindWorkload {
		clear(below)
		if view, ok := w.ledger.Workload(p.UID); ok {
			for _, d := range view.Deployments {
				below[d.UID] = true
			}
		}
	}
	ready := false
	err := w.api.instances(ctx, p.Namespace, func(i *ledger.Instance) bool {
		ready = below[i.Deployment.UID] && i.Contribution.Ready
		return !ready
	})
	if err == nil && ready {
		err = errStillReady
	}
	return err
}

// close lets no commit begin any more and returns when none is under way.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.group.Wait()
}
