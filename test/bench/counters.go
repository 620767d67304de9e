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
	if p.Ended() {
		lines := strings.Split(strings.TrimSpace(p.Log()), "\n")
		return nil, fmt.Errorf("%s has ended, so nothing was measured; is the machine busy with something else? It last said: %s", p.Name, lines[len(lines)-1])
	}
	text, err := p.Metrics(ctx)
	if err != nil {
		return nil, err
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

// delta is what both processes that decide about an Instance write, the API
// server and statuspatch, have counted meanwhile.
type delta struct {
	server, status func(name, label, contains string) float64
}

// counted does something and tells what was counted on a plane meanwhile.
func counted(ctx context.Context, on *environment.Environment, do func() error) (delta, error) {
	var at [2]struct{ server, status counters }
	for i := range at {
		if i == 1 {
			if err := do(); err != nil {
				return delta{}, err
			}
		}
		var err error
		if at[i].server, err = serverCounters(ctx, on); err != nil {
			return delta{}, err
		}
		if at[i].status, err = processCounters(ctx, on.Sidecars[0]); err != nil {
			return delta{}, err
		}
	}
	return delta{
		server: func(name, label, contains string) float64 {
			return at[1].server.sum(name, label, contains) - at[0].server.sum(name, label, contains)
		},
		status: func(name, label, contains string) float64 {
			return at[1].status.sum(name, label, contains) - at[0].status.sum(name, label, contains)
		},
	}, nil
}

// calls are the reviews that were sent to Causeway's webhooks.
func (d delta) calls() float64 { return d.server(webhookCalls, "name", ownWebhooks) }

// timeouts are the writes that went on without an answer.
func (d delta) timeouts() float64 { return d.server(webhookFailOpens, "name", ownWebhooks) }

func (d delta) conditionErrors() float64 { return d.server(conditionErrors, "name", ownWebhooks) }
func (d delta) excluded() float64        { return d.server(conditionExcluded, "name", ownWebhooks) }

// parentWrites are the patches of both kinds of parent that were stored.
func (d delta) parentWrites() float64 { return d.status("causeway_status_parent_writes_total", "", "") }

// deferred are the reviews whose parents were left to the repair loop.
func (d delta) deferred() float64 { return d.status("causeway_status_deferred_total", "", "") }
