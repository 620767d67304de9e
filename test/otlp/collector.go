package otlp

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// Span is one span as it was sent.
type Span struct {
	*trace.Span
	// Service is who sent it.
	Service string
}

// Collector takes traces.
type Collector struct {
	collector.UnimplementedTraceServiceServer
	server  *grpc.Server
	address string
	served  sync.WaitGroup

	mu    sync.Mutex
	spans []Span
}

// Start serves a collector on a free port of the loopback address.
func Start() (*Collector, error) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for traces: %w", err)
	}
	c := &Collector{server: grpc.NewServer(), address: socket.Addr().String()}
	collector.RegisterTraceServiceServer(c.server, c)
	// An error of Serve is the end that Stop asked for.
	c.served.Go(func() { _ = c.server.Serve(socket) })
	return c, nil
}

// Address is host:port.
func (c *Collector) Address() string { return c.address }

// Stop ends it.
func (c *Collector) Stop() {
	c.server.Stop()
	c.served.Wait()
}

// Export satisfies collector.TraceServiceServer.
func (c *Collector) Export(_ context.Context, r *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range r.ResourceSpans {
		service := ""
		for _, a := range of.Resource.GetAttributes() {
			if a.Key == "service.name" {
				service = a.Value.GetStringValue()
			}
		}
		for _, in := range of.ScopeSpans {
			for _, span := range in.Spans {
				c.spans = append(c.spans, Span{span, service})
			}
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// Spans are those with this attribute, so far.
func (c *Collector) Spans(key, value string) []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []Span
	for _, s := range c.spans {
		if s.Attribute(key) == value {
			found = append(found, s)
		}
	}
	return found
}

// Above is the span that s is a part of; ok is false where it has not come.
func (c *Collector) Above(s Span) (above Span, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, other := range c.spans {
		if string(other.TraceId) == string(s.TraceId) && string(other.SpanId) == string(s.ParentSpanId) {
			return other, true
		}
	}
	return Span{}, false
}

// Tree is a span and all below it by name, a line each, indented below what they
// are a part of and siblings in the order of their names.
func (c *Collector) Tree(s Span) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	var walk func(s Span, indent string)
	walk = func(s Span, indent string) {
		lines = append(lines, indent+s.Name)
		var below []Span
		for _, other := range c.spans {
			if string(other.TraceId) == string(s.TraceId) && string(other.ParentSpanId) == string(s.SpanId) {
				below = append(below, other)
			}
		}
		slices.SortFunc(below, func(a, b Span) int { return strings.Compare(a.Name, b.Name) })
		for _, b := range below {
			walk(b, indent+"  ")
		}
	}
	walk(s, "")
	return strings.Join(lines, "\n")
}

// Text is all that was sent, for looking for what must not be in it.
func (c *Collector) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var text strings.Builder
	for _, s := range c.spans {
		fmt.Fprintln(&text, s.Service, s.Span.String())
	}
	return text.String()
}

// Attribute is a text attribute, empty where there is none.
func (s Span) Attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}
