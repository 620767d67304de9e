package statuspatch

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// The spans of one review, each below the one it is indented under:
//
//	review
//	  update ledger               instances: the new contribution
//	  commit WorkloadDeployment   and commit Workload, both at once
//	    wait                      until the shared write begins
//	    write                     the shared write
//	  roll up                     overlay: what the conditions should say
//	  make patch                  overlay: as a patch of what is to be stored
//
// A shared write is below the first traced review that joined it; those of the
// others have a link to it. What is above review is the server's, in
// cmd/causeway; without it nothing here is recorded. Names of objects are in
// attributes, what the objects say is not.
const (
	spanReview           = "review"
	spanLedger           = "update ledger"
	spanCommitDeployment = "commit WorkloadDeployment"
	spanCommitWorkload   = "commit Workload"
	spanWait             = "wait"
	spanWrite            = "write"
	spanRollUp           = "roll up"
	spanMakePatch        = "make patch"

	eventConflict = "conflict"
)

// tracerName is the scope of these spans.
const tracerName = "github.com/causeway-webhook/causeway/statuspatch"

// startSpan begins a part of the span of ctx. Where that is not recorded it
// returns ctx as it is and allocates nothing.
func startSpan(ctx context.Context, name string) (context.Context, trace.Span) {
	return startBelow(ctx, trace.SpanFromContext(ctx), name)
}

// startBelow is startSpan for a context that does not hold the span above, which
// may have ended.
func startBelow(ctx context.Context, above trace.Span, name string) (context.Context, trace.Span) {
	if !above.SpanContext().IsSampled() {
		return ctx, above
	}
	return above.TracerProvider().Tracer(tracerName).Start(trace.ContextWithSpan(ctx, above), name)
}

// endSpan ends a span that startSpan began, as failed where err says so. Of an
// answer of the API server it keeps the reason alone, since its text may quote
// the object.
func endSpan(span trace.Span, err error) {
	if !span.IsRecording() {
		return
	}
	if err != nil {
		text := err.Error()
		var answered apierrors.APIStatus
		if errors.As(err, &answered) {
			text = cmp.Or(string(answered.Status().Reason), http.StatusText(int(answered.Status().Code)))
		}
		span.SetStatus(codes.Error, text)
	}
	span.End()
}

// endReview ends the span of a review.
func endReview(span trace.Span, h hook, req admission.Request, o outcome) {
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("causeway.webhook", string(h)),
		attribute.String("causeway.outcome", string(o)),
		attribute.String("k8s.namespace.name", req.Namespace),
		attribute.String("k8s.object.name", req.Name),
		attribute.String("k8s.admission.request.uid", string(req.UID)))
	span.End()
}

// share is one request's part in a commit of a parent.
type share struct {
	parent ledger.Parent
	commit *commit
	// span covers the part, and waiting what of it passed before the commit began.
	span, waiting trace.Span
}

// share takes part in the parent's next commit.
func (h *instances) share(ctx context.Context, p ledger.Parent) share {
	name := spanCommitWorkload
	if p.Kind == ledger.KindDeployment {
		name = spanCommitDeployment
	}
	ctx, span := startSpan(ctx, name)
	_, waiting := startSpan(ctx, spanWait)
	return share{parent: p, commit: h.writer.joinTraced(ctx, p, causeRequest), span: span, waiting: waiting}
}

// end ends the spans of a part that was waited for, in vain where the commit is
// not done.
func (s share) end(err error) {
	if !s.span.IsRecording() {
		return
	}
	began := time.Now()
	select {
	case <-s.commit.done:
		if s.commit.span.IsValid() {
			began = s.commit.began
		}
		if s.commit.origin != s.span {
			s.span.AddLink(trace.Link{SpanContext: s.commit.span})
		}
	default:
	}
	s.waiting.End(trace.WithTimestamp(began))
	endSpan(s.span, err)
}

// tracing is what a commit knows of the traces it shows in. Like commit.why it
// is guarded by the writer's mu until the commit runs.
type tracing struct {
	// origin is the part of the first traced request that joined; nil if none did.
	origin trace.Span
	// began and span are set with the commit's outcome, where there is an origin.
	began time.Time
	span  trace.SpanContext
}

// follow has the write shown in the trace of ctx, unless it is in another.
func (t *tracing) follow(ctx context.Context) {
	if span := trace.SpanFromContext(ctx); t.origin == nil && span.SpanContext().IsSampled() {
		t.origin = span
	}
}

// begin begins the span of the write.
func (t *tracing) begin(ctx context.Context) (context.Context, trace.Span) {
	if t.origin == nil {
		return ctx, trace.SpanFromContext(ctx)
	}
	t.began = time.Now()
	ctx, span := startBelow(ctx, t.origin, spanWrite)
	t.span = span.SpanContext()
	return ctx, span
}

// endWrite ends the span of a write.
func (c *commit) endWrite(span trace.Span, p ledger.Parent) {
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("causeway.kind", p.Kind.String()),
		attribute.String("causeway.cause", string(c.why)),
		attribute.Bool("causeway.stored", c.aim != ""),
		attribute.String("k8s.namespace.name", p.Namespace),
		attribute.String("k8s.object.name", p.Name))
	endSpan(span, c.err)
}
