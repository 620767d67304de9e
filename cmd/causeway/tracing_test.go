package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
)

// sink is a collector in this process. Its Export is called by the gRPC server.
type sink struct {
	collector.UnimplementedTraceServiceServer
	hold chan struct{} // closed: answers at once

	mu    sync.Mutex
	spans map[string]string // name to trace and parent
	from  string            // service.name
}

func (s *sink) Export(_ context.Context, r *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	<-s.hold
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range r.ResourceSpans {
		for _, a := range of.Resource.Attributes {
			if a.Key == "service.name" {
				s.from = a.Value.GetStringValue()
			}
		}
		for _, in := range of.ScopeSpans {
			for _, span := range in.Spans {
				s.spans[span.Name] = hex.EncodeToString(span.TraceId) + " " + hex.EncodeToString(span.ParentSpanId)
			}
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// newSink serves a collector that answers once hold is closed.
func newSink(t *testing.T, hold chan struct{}) (s *sink, endpoint string, stop func()) {
	t.Helper()
	s = &sink{hold: hold, spans: map[string]string{}}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, s)
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(socket) })
	stop = func() { server.Stop(); served.Wait() }
	t.Cleanup(stop)
	return s, "http://" + socket.Addr().String(), stop
}

func answering() chan struct{} {
	hold := make(chan struct{})
	close(hold)
	return hold
}

// lastWords are what a process says, also after a test has stopped it: an export that
// was under way then ends by itself.
type lastWords struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func tracingTo(t *testing.T, endpoint string, out *lastWords) *tracing {
	t.Helper()
	traces, err := newTracing(t.Context(), endpoint, "statuspatch", newLogger(out, logJSON, 0))
	require.NoError(t, err)
	return traces
}

// The trace goes on where the API server's ended, and is complete when the process is.
func TestARequestIsPartOfItsCallersTrace(t *testing.T) {
	s, endpoint, _ := newSink(t, answering())
	traces := tracingTo(t, endpoint, &lastWords{})
	r := launch(t, 0, service{register: func(mux *http.ServeMux) {
		mux.HandleFunc("/review", func(w http.ResponseWriter, r *http.Request) {
			above := trace.SpanFromContext(r.Context())
			_, span := above.TracerProvider().Tracer("test").Start(r.Context(), "inside")
			span.End()
			assert.NoError(t, http.NewResponseController(w).SetReadDeadline(time.Time{}), "deadlines can still be set")
			_, _ = w.Write([]byte("{}"))
		})
	}}, func(p *process) { p.traces = traces })
	client, transport := h2(func() string { return r.reviews })
	defer transport.CloseIdleConnections()
	request, err := http.NewRequest(http.MethodPost, "https://service.example/review?timeout=3s", strings.NewReader("{}"))
	require.NoError(t, err)
	request.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	response, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	// One that its caller does not want traced.
	request.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-00")
	request.URL.Path, request.Body = "/strange/path", http.NoBody
	response, err = client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	r.stop()
	require.NoError(t, r.end(t))
	traces.stop()

	s.mu.Lock()
	defer s.mu.Unlock()
	assert.Equal(t, "causeway-statuspatch", s.from)
	require.Len(t, s.spans, 2)
	assert.Equal(t, "0af7651916cd43dd8448eb211c80319c b7ad6b7169203331", s.spans["POST /review"])
	assert.Contains(t, s.spans["inside"], "0af7651916cd43dd8448eb211c80319c ")
}

// A collector that is not there, or takes and never answers, delays no review and the end by flushTimeout at most.
func TestACollectorThatIsDownDelaysNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	hold := make(chan struct{})
	_, hanging, stop := newSink(t, hold)
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	absent := "http://" + socket.Addr().String()
	require.NoError(t, socket.Close())

	for name, endpoint := range map[string]string{"absent": absent, "hanging": hanging} {
		t.Run(name, func(t *testing.T) {
			var out lastWords
			traces := tracingTo(t, endpoint, &out)
			r := launch(t, 0, service{register: func(mux *http.ServeMux) {
				mux.HandleFunc("/review", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
			}}, func(p *process) { p.traces = traces })
			client, transport := h2(func() string { return r.reviews })
			defer transport.CloseIdleConnections()
			slowest := time.Duration(0)
			for range 3000 { // more than the queue holds
				began := time.Now()
				require.NoError(t, review(client))
				slowest = max(slowest, time.Since(began))
			}
			assert.Less(t, slowest, time.Second)
			transport.CloseIdleConnections()
			r.stop()
			require.NoError(t, r.end(t))
			began := time.Now()
			traces.stop()
			assert.Less(t, time.Since(began), flushTimeout+time.Second)
			assert.Contains(t, out.String(), "The last spans were lost")
		})
	}
	close(hold)
	stop()
	// What was under way ends by itself.
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.NoError(c, goleak.Find(before)) }, 3*exportTimeout, 10*time.Millisecond)
}

func TestTroubleWithTheCollectorIsToldOnce(t *testing.T) {
	var out bytes.Buffer
	failing := &flaky{}
	e := &tellingExporter{SpanExporter: failing, logger: newLogger(&out, logJSON, 0)}
	for _, err := range []error{nil, fmt.Errorf("down"), fmt.Errorf("down"), nil, nil} {
		failing.err = err
		assert.NoError(t, e.ExportSpans(t.Context(), nil))
	}
	assert.Equal(t, []string{
		"The collector takes no spans; they are dropped, and reviews are answered all the same", "The collector takes spans again",
	}, messages(t, out.Bytes()))
}

func TestWithoutACollectorNothingIsWrapped(t *testing.T) {
	off, err := newTracing(t.Context(), "", "webhook", logr.Discard())
	require.NoError(t, err)
	mux := http.NewServeMux()
	assert.Same(t, mux, off.wrap(mux))
	off.stop()
}

func TestEndpointsOfCollectors(t *testing.T) {
	for _, endpoint := range []string{"", "http://localhost:4317", "https://collector.example:4317/", "http://[::1]:4317"} {
		assert.Empty(t, validateEndpoint("otlp-endpoint", endpoint), endpoint)
	}
	for _, endpoint := range []string{"localhost:4317", "grpc://a:1", "http://", "https://user:pass@a:1", "http://a:1/v1/traces", "http://a b"} {
		errs := validateEndpoint("otlp-endpoint", endpoint)
		require.Len(t, errs, 1, endpoint)
		assert.EqualError(t, errs[0], fmt.Sprintf("--otlp-endpoint must be http://host:port or https://host:port, of a collector that takes OTLP over gRPC, not %q", endpoint))
	}
}

// flaky is an exporter that fails as told.
type flaky struct{ err error }

func (f *flaky) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return f.err }
func (f *flaky) Shutdown(context.Context) error                             { return nil }
