package webhook

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// classesGood is how long a live read serves further refusals. A class
	// published longer ago than this can no longer be the reason for one.
	classesGood = time.Second
	// classesTimeout ends a live read that nobody waits for any more: the
	// longest a review may take (maxBudget).
	classesTimeout = maxBudget

	readingClasses = "reading the runtime classes"
)

// classReads lists RuntimeClasses. They change a few times a month and are read
// for each review, so that what was made of a list is kept until a list says
// something else: from the cache or live, the same versions of the same classes
// give the same *Classes, by which a review knows that it need not judge again.
type classReads struct{ last atomic.Pointer[classesRead] }

// classesRead is what was made of a list, and of which versions.
type classesRead struct {
	versions map[string]classVersion // by name
	classes  *Classes
}

// classVersion identifies the content of a class: a deleted and recreated one has
// another UID.
type classVersion struct {
	uid             types.UID
	resourceVersion string
}

// read lists the RuntimeClasses. It needs `list` on runtimeclasses, and `watch`
// too where r is a cache. A cache need not copy them: they are read here, and
// nothing of them is kept.
func (c *classReads) read(ctx context.Context, r client.Reader) (*Classes, error) {
	var list RuntimeClassList
	if err := r.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, &readFailed{what: readingClasses, err: err}
	}
	if last := c.last.Load(); last != nil && last.isOf(list.Items) {
		return last.classes, nil
	}
	read := &classesRead{versions: make(map[string]classVersion, len(list.Items)), classes: NewClasses(list.Items)}
	for i := range list.Items {
		read.versions[list.Items[i].Name] = versionOf(&list.Items[i])
	}
	c.last.Store(read)
	return read.classes, nil
}

func versionOf(c *RuntimeClass) classVersion { return classVersion{c.UID, c.ResourceVersion} }

// isOf tells whether a list, in any order, has these versions and no others.
func (r *classesRead) isOf(list []RuntimeClass) bool {
	if len(list) != len(r.versions) {
		return false
	}
	for i := range list {
		if v := versionOf(&list[i]); v.resourceVersion == "" || r.versions[list[i].Name] != v {
			return false
		}
	}
	return true
}

// sharedRead reads the classes live for all reviews together: at most one read
// is under way, and its result is good for classesGood, so that a storm of
// refusals costs the API server one request a second.
type sharedRead struct {
	live    client.Reader
	reads   *classReads
	clock   clock.PassiveClock
	metrics *metrics

	mu      sync.Mutex
	call    *classCall // the newest, under way or finished; nil before the first
	started time.Time  // of call
}

// classCall is one read. Its results may be read once done is closed.
type classCall struct {
	done    chan struct{}
	classes *Classes
	err     error
	// traced is the read's span, below starter; neither is recorded where the
	// review that started the read is not traced.
	starter, traced trace.Span
}

// get returns classes that were read less than classesGood ago, counted from
// the start of the read, or by a read that was under way already. It returns
// early with the cause of ctx when that ends; the read goes on for the others.
// A failed read is handed to those who waited for it and then forgotten.
func (s *sharedRead) get(ctx context.Context) (_ *Classes, err error) {
	ctx, span := startSpan(ctx, spanClasses)
	call := s.join(ctx)
	defer func() { endShared(span, call, err) }()
	select {
	case <-call.done:
		return call.classes, call.err
	case <-ctx.Done():
		return nil, &readFailed{what: readingClasses, err: context.Cause(ctx)}
	}
}

func (s *sharedRead) join(ctx context.Context) *classCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if s.call != nil && s.call.usable(now.Sub(s.started)) {
		return s.call
	}
	call := &classCall{done: make(chan struct{}), starter: trace.SpanFromContext(ctx)}
	s.call, s.started = call, now
	// The read serves others than the one who happened to start it, so it must
	// not end with that one's context.
	go s.read(context.WithoutCancel(ctx), call)
	return call
}

// usable tells whether a read that was started so long ago still serves. The
// clock may have been set back, so a negative age does not.
func (c *classCall) usable(age time.Duration) bool {
	select {
	case <-c.done:
		return c.err == nil && age >= 0 && age < classesGood
	default:
		return true
	}
}

func (s *sharedRead) read(ctx context.Context, call *classCall) {
	defer close(call.done)
	ctx, call.traced = startSpan(ctx, spanListClasses)
	defer func() { endSpan(call.traced, call.err) }()
	defer func() {
		// A panic here would end the process, not one review.
		if p := recover(); p != nil {
			call.classes, call.err = nil, errPanic(p)
		}
		s.metrics.countRead(call.err)
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, classesTimeout, errSlow)
	defer cancel()
	call.classes, call.err = s.reads.read(ctx, s.live)
}
