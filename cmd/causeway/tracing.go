package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
)

const (
	// exportTimeout bounds one try to hand spans over, waits and repetitions included. Meanwhile the queue, of 2,048
	// spans, fills and then drops: it never holds up a review.
	exportTimeout = 5 * time.Second
	// flushTimeout bounds how long a process that ends waits for the last spans to be taken.
	flushTimeout = 2 * time.Second
)

// tracing sends a span of each request served, and those that the packages begin below it, to a collector. Nil is off,
// and then a request is served as if there were none of this.
//
// Flags say where; the rest is set as every OpenTelemetry SDK is, by environment variables: OTEL_TRACES_SAMPLER and its
// _ARG, OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_CERTIFICATE, OTEL_RESOURCE_ATTRIBUTES, OTEL_BSP_*.
type tracing struct {
	provider *sdktrace.TracerProvider
	exporter sdktrace.SpanExporter
	logger   logr.Logger
}

// newTracing connects to no collector yet: one that is not there now may be there later.
func newTracing(ctx context.Context, endpoint, name string, logger logr.Logger) (*tracing, error) {
	if endpoint == "" {
		return nil, nil
	}
	logger = logger.WithName("tracing")
	// What the SDK has to say is no fault of a request.
	otel.SetLogger(logger)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.V(1).Info("Tracing trouble", "reason", err.Error()) }))

	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(endpoint))
	if err != nil {
		return nil, fmt.Errorf("setting up --otlp-endpoint: %w", err)
	}
	whom, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithHost(),
		resource.WithAttributes(semconv.ServiceName("causeway-"+name), semconv.ServiceVersion(version)),
		resource.WithFromEnv()) // last: an operator knows better
	if err != nil {
		logger.Info("Not all that identifies this process in a trace is known", "reason", err.Error())
	}
	return &tracing{logger: logger, exporter: exporter, provider: sdktrace.NewTracerProvider(
		sdktrace.WithResource(whom),
		sdktrace.WithBatcher(&tellingExporter{SpanExporter: exporter, logger: logger}, sdktrace.WithExportTimeout(exportTimeout)),
	)}, nil
}

// wrap has each request that mux serves traced, as a part of the trace that the API server says it belongs to.
func (t *tracing) wrap(mux *http.ServeMux) http.Handler {
	if t == nil {
		return mux
	}
	return otelhttp.NewHandler(mux, "",
		otelhttp.WithTracerProvider(t.provider),
		otelhttp.WithMeterProvider(noop.NewMeterProvider()), // metrics are Prometheus' business
		otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string {
			// The path as it was registered: a stranger's path must not name spans.
			if _, pattern := mux.Handler(r); pattern != "" {
				return r.Method + " " + pattern
			}
			return "unknown path"
		}))
}

// stop sends what is left, for flushTimeout at most. No review is answered any more by then.
func (t *tracing) stop() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.logger.Info("The last spans were lost", "reason", err.Error())
		_ = t.exporter.Shutdown(ctx) // ends what is under way
	}
}

// tellingExporter says once that the collector takes nothing, and once that it does again, instead of at each try.
type tellingExporter struct {
	sdktrace.SpanExporter
	logger  logr.Logger
	failing bool // the SDK exports one batch at a time
}

// ExportSpans satisfies sdktrace.SpanExporter. What the collector does not take is lost, on purpose: keeping it would
// take memory for as long as the collector is away.
func (e *tellingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil && !e.failing:
		e.logger.Info("The collector takes no spans; they are dropped, and reviews are answered all the same", "reason", err.Error())
	case err == nil && e.failing:
		e.logger.Info("The collector takes spans again")
	}
	e.failing = err != nil
	return nil
}

// validateEndpoint returns an error for what cannot be the address of a collector.
func validateEndpoint(flag, endpoint string) []error {
	if endpoint == "" {
		return nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Path != "" && u.Path != "/" {
		return []error{flagError(flag, "must be http://host:port or https://host:port, of a collector that takes OTLP over gRPC, not %q", endpoint)}
	}
	return nil
}
