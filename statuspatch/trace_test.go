package statuspatch

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// traces collects spans that have ended.
type traces struct {
	recorder *tracetest.SpanRecorder
	tracer   trace.Tracer
}

func newTraces() *traces {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	return &traces{recorder, provider.Tracer("test")}
}

// serve runs f as the server does, in a span of this name.
func (tr *traces) serve(ctx context.Context, name string, f func(context.Context)) {
	ctx, span := tr.tracer.Start(ctx, name)
	defer span.End()
	f(ctx)
}

// tree is every span below the one it belongs to, siblings by name.
func (tr *traces) tree() string {
	var lines []string
	var walk func(above trace.SpanID, indent string)
	spans := tr.recorder.Ended()
	slices.SortFunc(spans, func(a, b sdktrace.ReadOnlySpan) int { return strings.Compare(a.Name(), b.Name()) })
	walk = func(above trace.SpanID, indent string) {
		for _, s := range spans {
			if s.Parent().SpanID() != above {
				continue
			}
			line := indent + s.Name()
			if s.Status().Code == codes.Error {
				line += " FAILED " + s.Status().Description
			}
			for _, e := range s.Events() {
				line += " EVENT " + e.Name
			}
			for _, l := range s.Links() {
				line += " LINK " + tr.named(l.SpanContext.SpanID())
			}
			lines = append(lines, line)
			walk(s.SpanContext().SpanID(), indent+"  ")
		}
	}
	walk(trace.SpanID{}, "")
	return strings.Join(lines, "\n")
}

func (tr *traces) named(id trace.SpanID) string {
	for _, s := range tr.recorder.Ended() {
		if s.SpanContext().SpanID() == id {
			return s.Name()
		}
	}
	return "nothing"
}

// reviewed has one review answered in a span named POST.
func (w *world) reviewed(t *testing.T, tr *traces, h hook, req admission.Request, review reviewer) {
	t.Helper()
	tr.serve(t.Context(), "POST", func(ctx context.Context) {
		ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Second, errBudget)
		defer cancel()
		assert.True(t, w.shell.answer(ctx, h, req, review).Allowed)
	})
}

func crashReview(t *testing.T) admission.Request {
	return reviewOf(t, instanceJSON(0, 1, waitingJSON()), instanceJSON(0, 1, crashingJSON()))
}

func TestTheSpansOfAReview(t *testing.T) {
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, w *world)
		hook    hook
		request func(*testing.T) admission.Request
		review  func(w *world) reviewer
		want    string
	}{
		"an Instance that fails": {
			hook: hookInstances, request: crashReview,
			review: func(w *world) reviewer { return w.instances.review },
			want: `
POST
  review
    commit Workload
      wait
      write
    commit WorkloadDeployment
      wait
      write
    update ledger`,
		},
		"an Instance whose contribution did not change": {
			hook: hookInstances,
			request: func(t *testing.T) admission.Request {
				return reviewOf(t, instanceJSON(0, 1, waitingJSON()), instanceJSON(0, 1, waitingJSON()))
			},
			review: func(w *world) reviewer { return w.instances.review },
			want: `
POST
  review`,
		},
		"a write that meets a conflict": {
			prepare: func(t *testing.T, w *world) {
				// Somebody else has written the Workload, and the watch is behind.
				w.stub.put(resourceWorkloads, workloadJSON(provisioningJSON()))
			},
			hook: hookInstances, request: crashReview,
			review: func(w *world) reviewer { return w.instances.review },
			want: `
POST
  review
    commit Workload
      wait
      write EVENT conflict
    commit WorkloadDeployment
      wait
      write
    update ledger`,
		},
		"an API server whose answer quotes the object": {
			prepare: func(_ *testing.T, w *world) {
				w.stub.hook(func(r *http.Request) int {
					if strings.Contains(r.URL.Path, resourceWorkloads+"/") {
						return http.StatusUnprocessableEntity
					}
					return 0
				})
			},
			hook: hookInstances, request: crashReview,
			review: func(w *world) reviewer { return w.instances.review },
			want: `
POST
  review
    commit Workload FAILED Unprocessable Entity
      wait
      write FAILED Unprocessable Entity
    commit WorkloadDeployment
      wait
      write
    update ledger`,
		},
		"another writer of a parent, corrected": {
			hook: hookWorkloads,
			request: func(t *testing.T) admission.Request {
				return reviewOf(t, workloadJSON(provisioningJSON()), workloadJSON(availableJSON()))
			},
			review: func(w *world) reviewer { return w.overlay.workload },
			want: `
POST
  review
    make patch
    roll up`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, tr := newWorld(t), newTraces()
			w.put(t, workloadJSON(provisioningJSON()), deploymentJSON(1, 1, provisioningJSON()))
			if tc.prepare != nil {
				tc.prepare(t, w)
			}
			w.reviewed(t, tr, tc.hook, tc.request(t), tc.review(w))
			assert.Equal(t, strings.TrimPrefix(tc.want, "\n"), tr.tree())
		})
	}
}

// Two reviews that share a write: it is in one trace, and the other leads to it.
func TestASharedWriteIsBelowTheFirstWhoJoined(t *testing.T) {
	w, tr := newWorld(t), newTraces()
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	arrived, release := make(chan struct{}), make(chan struct{})
	first := true
	w.stub.hook(func(*http.Request) int {
		if first {
			first = false
			close(arrived)
			<-release
		}
		return 0
	})
	running := w.writer.join(deploymentParent("d1"), causeRepair) // nobody's trace
	<-arrived
	var shares []share
	for _, name := range []string{"A", "B"} {
		tr.serve(t.Context(), name, func(ctx context.Context) {
			shares = append(shares, w.instances.share(ctx, deploymentParent("d1")))
		})
	}
	close(release)
	for _, s := range shares {
		require.NoError(t, w.instances.await(t.Context(), s))
	}
	require.NoError(t, running.wait(t.Context()))
	assert.Equal(t, `A
  commit WorkloadDeployment
    wait
    write
B
  commit WorkloadDeployment LINK write
    wait`, tr.tree())
}

// Whoever gives up has its spans ended then, and the write goes on in its trace.
func TestTheSpansOfAReviewThatGivesUp(t *testing.T) {
	w, tr := newWorld(t), newTraces()
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	release := make(chan struct{})
	w.stub.hook(func(*http.Request) int { <-release; return 0 })
	var s share
	tr.serve(t.Context(), "A", func(ctx context.Context) {
		ctx, cancel := context.WithCancelCause(ctx)
		s = w.instances.share(ctx, deploymentParent("d1"))
		cancel(errBudget)
		require.ErrorIs(t, w.instances.await(ctx, s), errBudget)
	})
	assert.Equal(t, `A
  commit WorkloadDeployment FAILED out of budget
    wait`, tr.tree())
	close(release)
	require.NoError(t, s.commit.wait(t.Context()))
	assert.Equal(t, `A
  commit WorkloadDeployment FAILED out of budget
    wait
    write`, tr.tree())
}

// Names of objects may be in a trace. What they say is its owners' business.
func TestNothingOfAnObjectIsInATrace(t *testing.T) {
	w, tr := newWorld(t), newTraces()
	w.put(t, workloadJSON(provisioningJSON()), deploymentJSON(1, 1, provisioningJSON()))
	w.reviewed(t, tr, hookInstances, crashReview(t), w.instances.review)
	seen := ""
	for _, s := range tr.recorder.Ended() {
		seen += fmt.Sprintf("%s %v %v %v\n", s.Name(), s.Attributes(), s.Events(), s.Status())
	}
	assert.Contains(t, seen, "applied")
	assert.Contains(t, seen, "d1")
	assert.NotContains(t, seen, "it exits")
	assert.NotContains(t, seen, "repeatedly")

	status := apierrors.NewInvalid(schema.GroupKind{Kind: "Workload"}, "api", nil)
	status.ErrStatus.Message = "Invalid value: it exits"
	tr.serve(t.Context(), "C", func(ctx context.Context) {
		_, span := startSpan(ctx, spanWrite)
		endSpan(span, fmt.Errorf("patching: %w", status))
	})
	assert.Contains(t, tr.tree(), "write FAILED Invalid")
	assert.NotContains(t, tr.tree(), "it exits")
}

// Off, which it is unless asked for, tracing costs a review nothing.
func TestWithoutATraceNothingIsAllocated(t *testing.T) {
	ctx, req := t.Context(), admission.Request{}
	done := &commit{done: make(chan struct{})}
	close(done.done)
	p := ledger.Parent{Kind: ledger.KindWorkload}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		ctx, span := startSpan(ctx, spanReview)
		_, ledger := startSpan(ctx, spanLedger)
		endSpan(ledger, nil)
		part, commit := startSpan(ctx, spanCommitWorkload)
		_, waiting := startSpan(part, spanWait)
		done.follow(part)
		writing, write := done.begin(part)
		trace.SpanFromContext(writing).AddEvent(eventConflict)
		done.endWrite(write, p)
		share{commit: done, span: commit, waiting: waiting}.end(nil)
		endReview(span, hookInstances, req, outcomeApplied)
	}))
}

func BenchmarkReviewSpans(b *testing.B) {
	tr := newTraces()
	for name, ctx := range map[string]context.Context{"off": b.Context(), "on": trace.ContextWithSpan(b.Context(), started(tr))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ctx, span := startSpan(ctx, spanReview)
				_, ledger := startSpan(ctx, spanLedger)
				endSpan(ledger, nil)
				endReview(span, hookInstances, admission.Request{}, outcomeApplied)
				tr.recorder.Reset()
			}
		})
	}
}

func started(tr *traces) trace.Span {
	_, span := tr.tracer.Start(context.Background(), "POST")
	return span
}
