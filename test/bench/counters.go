package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"

	"github.com/causeway-webhook/causeway/test/environment"
)

// counters is what a process exposes at one moment.
type counters map[string]*dto.MetricFamily

func parse(text string) (counters, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	return families, err
}

// serverCounters is what an API server counts.
func serverCounters(ctx context.Context, e *environment.Environment) (counters, error) {
	c, err := rest.HTTPClientFor(e.AdminConfig())
	if err != nil {
		return nil, err
	}
	defer c.CloseIdleConnections()
	text, err := writer{http: c, base: e.URL()}.send(ctx, http.MethodGet, "/metrics", plainJSON, nil)
	if err != nil {
		return nil, err
	}
	return parse(string(text))
}

// processCounters is what a process of Causeway counts.
func processCounters(ctx context.Context, p *environment.Process) (counters, error) {
	text, err := p.Metrics(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, p.Log())
	}
	return parse(text)
}

// sum adds up the series of a name whose label contains a text; of a histogram,
// how many observations it has. Without a label all series count.
func (c counters) sum(name, label, contains string) float64 {
	total := 0.0
	for _, m := range c[name].GetMetric() {
		matches := label == ""
		for _, l := range m.GetLabel() {
			matches = matches || l.GetName() == label && strings.Contains(l.GetValue(), contains)
		}
		if matches {
			total += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return total
}

// Names of the API server's counters, and the part of a webhook's name by which
// Causeway's are known.
const (
	webhookCalls      = "apiserver_admission_webhook_admission_duration_seconds"
	webhookFailOpens  = "apiserver_admission_webhook_fail_open_count"
	conditionErrors   = "apiserver_admission_match_condition_evaluation_errors_total"
	conditionExcluded = "apiserver_admission_match_condition_exclusions_total"

	ownWebhooks = "causeway.dev"
)

// side is what both processes that decide about an Instance write count.
type side struct{ server, status counters }

func (e *env) look(ctx context.Context, on *environment.Environment) (side, error) {
	server, err := serverCounters(ctx, on)
	if err != nil {
		return side{}, err
	}
	status, err := processCounters(ctx, on.Sidecars[0])
	return side{server, status}, err
}

// calls are the reviews that were sent to Causeway's webhooks.
func (s side) calls() float64 { return s.server.sum(webhookCalls, "name", ownWebhooks) }

// timeouts are the writes that went on without an answer.
func (s side) timeouts() float64 { return s.server.sum(webhookFailOpens, "name", ownWebhooks) }

func (s side) errors() float64   { return s.server.sum(conditionErrors, "name", ownWebhooks) }
func (s side) excluded() float64 { return s.server.sum(conditionExcluded, "name", ownWebhooks) }

// parentWrites are the patches of both kinds of parent that were stored.
func (s side) parentWrites() float64 {
	return s.status.sum("causeway_status_parent_writes_total", "", "")
}

// deferred are the reviews whose parents were left to the repair loop.
func (s side) deferred() float64 { return s.status.sum("causeway_status_deferred_total", "", "") }
