package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// traced is every span that f's reviews make, each below the one it belongs to,
// siblings by name.
func traced(ctx context.Context, f func(context.Context)) (tree string, spans []sdktrace.ReadOnlySpan) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	ctx, root := provider.Tracer("test").Start(ctx, "POST")
	f(ctx)
	root.End()
	spans = recorder.Ended()
	slices.SortFunc(spans, func(a, b sdktrace.ReadOnlySpan) int { return strings.Compare(a.Name(), b.Name()) })
	var lines []string
	var walk func(above trace.SpanID, indent string)
	walk = func(above trace.SpanID, indent string) {
		for _, s := range spans {
			if s.Parent().SpanID() != above {
				continue
			}
			line := indent + s.Name()
			if s.Status().Code == codes.Error {
				line += " FAILED " + s.Status().Description
			}
			if len(s.Links()) > 0 {
				line += fmt.Sprintf(" LINKS %d", len(s.Links()))
			}
			lines = append(lines, line)
			walk(s.SpanContext().SpanID(), indent+"  ")
		}
	}
	walk(trace.SpanID{}, "")
	return strings.Join(lines, "\n"), spans
}

func TestTheSpansOfAReview(t *testing.T) {
	refused := runtimeOf("web", ctr("app", "SYS_ADMIN"))
	for name, tc := range map[string]struct {
		live *reader
		r    *resource
		raw  []byte
		want string
	}{
		"accepted from the cache": {
			live: &reader{classes: published()}, r: workloads,
			raw:  object(t, "Workload", "shop", runtimeOf("web", ctr("app", "NET_BIND_SERVICE"))),
			want: "POST\n  review",
		},
		"refused after a live read": {
			live: &reader{classes: published()}, r: workloads,
			raw:  object(t, "Workload", "shop", refused),
			want: "POST\n  review\n    live classes\n      list runtimeclasses",
		},
		"a child whose owner is asked": {
			live: &reader{classes: published()}, r: instances,
			raw:  object(t, "Instance", "shop", refused, owned("WorkloadDeployment", "gone", "uid-gone", true)),
			want: "POST\n  review\n    live classes\n      list runtimeclasses\n    read owner",
		},
		"in doubt": {
			live: &reader{listErr: errors.New("dial tcp: the network is down")}, r: workloads,
			raw:  object(t, "Workload", "shop", refused),
			want: "POST\n  review\n    live classes FAILED reading the runtime classes: the API server gave no usable answer\n      list runtimeclasses FAILED reading the runtime classes: the API server gave no usable answer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cached := &reader{classes: published()}
			h := hook(t, tc.r, tc.live, func(o *Options) { o.Classes = cached })
			tree, spans := traced(t.Context(), func(ctx context.Context) { h.Handle(ctx, created(tc.r, "shop", tc.raw)) })
			assert.Equal(t, tc.want, tree)
			for _, s := range spans {
				text := fmt.Sprint(s.Attributes(), s.Events(), s.Status())
				assert.NotContains(t, text, "SYS_ADMIN", "what an object says is in no trace")
				assert.NotContains(t, text, "dial tcp")
			}
		})
	}
}

func TestASharedReadIsBelowTheReviewThatStartedIt(t *testing.T) {
	h := hook(t, workloads, &reader{classes: published()})
	raw := object(t, "Workload", "shop", runtimeOf("web", ctr("app", "SYS_ADMIN")))
	tree, _ := traced(t.Context(), func(ctx context.Context) {
		h.Handle(ctx, created(workloads, "shop", raw))
		h.Handle(ctx, created(workloads, "shop", raw))
	})
	assert.ElementsMatch(t, strings.Split(`POST
  review
    live classes
      list runtimeclasses
  review
    live classes LINKS 1`, "\n"), strings.Split(tree, "\n"))
}

func TestWithoutATraceNothingIsAllocated(t *testing.T) {
	ctx := t.Context()
	call := &classCall{done: make(chan struct{})}
	close(call.done)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		part, span := startSpan(ctx, spanReview)
		_, owner := startSpan(part, spanOwner)
		endSpan(owner, nil)
		endShared(span, call, nil)
		endReview(span, workloads, &admission.Request{}, answer{})
	}))
}
