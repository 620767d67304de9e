package webhook

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// The spans of one review, each below the one it is indented under:
//
//	review
//	  live classes             the wait for a read that reviews share
//	    list runtimeclasses    that read, below the review that started it
//	  read owner               WorkloadDeployments and Instances
//
// Reviews that share a read which another started have a link to it. What is
// above review is the server's, in cmd/causeway; without it nothing here is
// recorded. Names of objects are in attributes, what the objects say is not.
const (
	spanReview      = "review"
	spanClasses     = "live classes"
	spanListClasses = "list runtimeclasses"
	spanOwner       = "read owner"
)

// tracerName is the scope of these spans.
const tracerName = "github.com/causeway-webhook/causeway/webhook"

// startSpan begins a part of the span of ctx. Where that is not recorded it
// returns ctx as it is and allocates nothing.
func startSpan(ctx context.Context, name string) (context.Context, trace.Span) {
	above := trace.SpanFromContext(ctx)
	if !above.SpanContext().IsSampled() {
		return ctx, above
	}
	return above.TracerProvider().Tracer(tracerName).Start(ctx, name)
}

// endSpan ends a span that startSpan began, as failed where err says so. The
// text is the one that whoever asked may read.
func endSpan(span trace.Span, err error) {
	if !span.IsRecording() {
		return
	}
	if err != nil {
		span.SetStatus(codes.Error, explain(err))
	}
	span.End()
}

// endShared ends the wait for a shared read, which may go on without it.
func endShared(span trace.Span, call *classCall, err error) {
	if !span.IsRecording() {
		return
	}
	select {
	case <-call.done:
		if call.starter != span && call.traced.SpanContext().IsValid() {
			span.AddLink(trace.Link{SpanContext: call.traced.SpanContext()})
		}
	default:
	}
	endSpan(span, err)
}

// endReview ends the span of a review.
func endReview(span trace.Span, r *resource, req *admission.Request, a answer) {
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("causeway.resource", r.name),
		attribute.String("causeway.outcome", string(a.outcome)),
		attribute.Int("causeway.causes", len(a.verdict.Refused)),
		attribute.String("k8s.namespace.name", req.Namespace),
		attribute.String("k8s.object.name", nameOf(req, a.subject)),
		attribute.String("k8s.admission.request.uid", string(req.UID)))
	span.End()
}
