package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/causeway-webhook/causeway/certs"
	"github.com/causeway-webhook/causeway/statuspatch"
	"github.com/causeway-webhook/causeway/webhook"
)

// The page is made from what the code registers, so that it can name no metric, label or value that is not there; only
// what to do about a metric is written by hand, below.
func TestTheMetricsPageIsUpToDate(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "metrics.md")
	want := metricsPage(t)
	if *update {
		require.NoError(t, os.WriteFile(file, want, 0o644))
	}
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "run make generate")
}

const pageHead = `# Metrics

<!-- Written by "make generate" from what the code registers; edit cmd/causeway/metricspage_test.go. -->

Each process serves ` + "`/metrics`" + `: ` + "`causeway webhook`" + ` on port 8080, ` + "`causeway statuspatch`" + ` on port 8082, by plain HTTP or,
with the component ` + "`secure-metrics`" + `, over HTTPS to those alone whom the API server allows.
` + "[deploy/components/monitoring](../deploy/components/monitoring)" + ` has them scraped by the Prometheus Operator, brings the alerts that
[operating.md](operating.md) explains, and this dashboard for Grafana:

![The panels of the dashboard, drawn from a Prometheus that scraped the demo](dashboard.png)

Labels are closed sets, and a series that may ever move is there from the start, at zero. No label holds the name of an
object, with one exception: ` + "`class`" + ` names runtime classes, which are few and made by whoever operates the platform. Only a class
that exists, or existed since the process began, has a series, and at most 20 have: what a customer writes into
` + "`runtime.class`" + ` never makes one.

Of several replicas of ` + "`causeway statuspatch`" + ` one is active. The others are warm, so what they know (` + "`..._workloads`" + `,
` + "`..._ledger_objects`" + `, ` + "`..._watch_events_total`" + `) is known several times over: take the maximum, not the sum. What they do is done by
one of them: there the sum is right.
`

const pageTail = `
## From the libraries

Both processes also show Go's own metrics (` + "`go_*`, `process_*`" + `), those of client-go (` + "`rest_client_requests_total{code,method}`" + `: what
Causeway asks of the API server) and of its work queues (` + "`workqueue_depth{name=\"causeway_repair\"}`" + `: parents that the repair
loop has yet to look at, and ` + "`causeway_settle`, `causeway_events`, `causeway_pods`" + `).

## From the API server

What happens when Causeway cannot be called, only the API server can tell; have it scraped too.

| Metric | Labels used | Meaning | When it moves |
| --- | --- | --- | --- |
| ` + "`apiserver_admission_webhook_fail_open_count`" + ` | ` + "`name`: `*.causeway.dev`" + ` | Requests let through because a webhook of ` + "`failurePolicy: Ignore`" + ` did not answer. | Nobody answers, or too late: see [operating.md](operating.md#causewaywebhookfailingopen). |
| ` + "`apiserver_admission_webhook_admission_duration_seconds`" + ` | ` + "`name`" + ` | How long the API server waited for a webhook: what a writer pays, the way included. | Compare it with Causeway's own histograms: what is missing there is spent on the way. |
| ` + "`apiserver_admission_webhook_rejection_count`" + ` | ` + "`name`, `error_type`" + ` | Requests refused by a webhook, or for want of one (` + "`error_type=\"calling_webhook_error\"`" + `). | The latter on ` + "`workloads.capabilities.causeway.dev`" + ` means that Workloads which add capabilities are refused because nobody answers. |
`

// section is one part of the page.
type section struct {
	title    string
	register func(prometheus.Registerer) error
}

func metricsPage(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	out.WriteString(pageHead)
	told := map[string]bool{}
	for _, s := range []section{
		{"Both processes", func(r prometheus.Registerer) error { return registerOwn(r, noCertificate{}) }},
		{"`causeway webhook`: refusing capabilities", webhook.RegisterMetrics},
		{"`causeway statuspatch`: carrying reasons up", statuspatch.RegisterMetrics},
	} {
		fmt.Fprintf(&out, "\n## %s\n\n| Metric | Type | Labels and their values | Meaning | When it moves |\n| --- | --- | --- | --- | --- |\n", s.title)
		registry := prometheus.NewPedanticRegistry()
		require.NoError(t, s.register(registry))
		families, err := registry.Gather()
		require.NoError(t, err)
		for _, f := range families {
			advice := whenItMoves[f.GetName()]
			assert.NotEmpty(t, advice, "%s: say above what to do when it moves", f.GetName())
			told[f.GetName()] = true
			fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s |\n", f.GetName(), strings.ToLower(f.GetType().String()), labelsCell(f), f.GetHelp(), advice)
		}
	}
	for name := range whenItMoves {
		assert.True(t, told[name], "%s is explained and does not exist", name)
	}
	out.WriteString(pageTail)
	return out.Bytes()
}

// valuesInWords are label values that are not the same everywhere, or too many to list.
var valuesInWords = map[string]string{
	"class":      "a runtime class that exists, `none` (none was named, and none is the default), `other`",
	"reason":     "`AvailablePlacementFound`, one of the failure reasons that Causeway knows, `none` (no condition yet), `other` (not in the table)",
	"version":    "the release",
	"commit":     "the commit it was built from",
	"go_version": "the Go release",
}

func labelsCell(f *dto.MetricFamily) string {
	values := map[string][]string{}
	var names []string
	for _, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			if values[l.GetName()] == nil {
				names = append(names, l.GetName())
			}
			if v := "`" + l.GetValue() + "`"; !slices.Contains(values[l.GetName()], v) {
				values[l.GetName()] = append(values[l.GetName()], v)
			}
		}
	}
	for i, name := range names {
		words := valuesInWords[name]
		if words == "" {
			words = strings.Join(values[name], ", ")
		}
		names[i] = "`" + name + "`: " + words
	}
	return strings.Join(names, "; ")
}

// noCertificate is there for the metric of its expiry alone.
type noCertificate struct{ certs.Source }

func (noCertificate) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return nil, errors.New("there is none")
}

// whenItMoves says what a metric's change asks of an operator.
var whenItMoves = map[string]string{
	"causeway_build_info":                           "Two versions at once for longer than a rollout takes: the rollout is stuck.",
	"causeway_log_lines_dropped_total":              "Something happens more than a hundred times a second. The lines that are written tell what, and to whose object; the other metrics tell how often.",
	"causeway_certificate_expiry_timestamp_seconds": "Nearer than a fifth of `lifetime_seconds`, or 0: renewal has stopped. See [operating.md](operating.md#causewaycertificateexpiressoon).",
	"causeway_certificate_lifetime_seconds":         "A renewed certificate is good for another time than the one before: somebody changed its issuer or `--cert-lifetime`.",

	"causeway_capability_reviews_total":           "`refused` is the webhook at work. `doubt_refused` and `doubt_allowed`: it could not read what it needs; look at `class_reads_total` and the log. `bad_request`: something other than the API server calls, or the configuration names a wrong path.",
	"causeway_capability_review_duration_seconds": "Milliseconds are right. Up to the timeout of 5 s: live reads of the classes hang, so the API server is slow or its level for Causeway (flow control) is full.",
	"causeway_capability_refusals_total":          "Which rule customers run into. `spelling` and `all` are theirs to mend; `grant` and `feature` may mean that a class should grant more; `class` that one is missing or none is the default.",
	"causeway_capability_findings_total":          "`refused` rising for one class alone: compare with `class_withdrawals_total`. `warned` means stored Workloads hold what their class no longer grants, a copy has its owner on another control plane, or `--capabilities=warn` is on.",
	"causeway_capability_class_withdrawals_total": "Somebody took a capability from a class, deleted one, or moved the default. If refusals follow, see [operating.md](operating.md#causewayrefusalsafterclasschange).",
	"causeway_capability_class_reads_total":       "`error`: refusals cannot be decided, and Workloads that add capabilities are refused in doubt. Check that the API server answers and that the role in deploy/components/refusal/rbac.yaml is bound.",

	"causeway_status_active":                    "The sum over all replicas is 1. 0 for longer than a hand-over: nobody carries reasons up; see [operating.md](operating.md#causewaynoactivestatuspatch).",
	"causeway_status_reviews_total":             "`applied` is truth in the same request. `deferred`: see `deferred_total`. `inactive` beyond a hand-over: the API server calls a standby, so look at the EndpointSlice. `undecodable` and `panic`: report it, with the log.",
	"causeway_status_review_duration_seconds":   "What a provider's write pays. Near the budget of 2 s: parents are written slowly; see `commit_duration_seconds` and `conflicts_total`.",
	"causeway_status_deferred_total":            "Parents told the truth late, if by a second. `budget`: the API server is slow. `api_error`: it refuses Causeway's patches. `missing_parent`: an Instance names a deployment that is gone. See [operating.md](operating.md#causewaystatuswritesdeferred).",
	"causeway_status_parent_writes_total":       "`request` is the normal way; `overlay` means that other writers keep writing what Causeway corrects, which is normal too. Mostly `repair`: the webhooks are not called.",
	"causeway_status_unexplained_answers_total": "`unknown_reason`: a provider uses a reason that Causeway should learn. `default` is normal while Instances start; for long, a provider does not say what it waits for.",
	"causeway_status_commit_waiters":            "Many waiters share one write where a parent is hot; that is what keeps it fast.",
	"causeway_status_commit_duration_seconds":   "Two requests to the API server at most; slower than those are elsewhere, its level for Causeway (flow control) is full.",
	"causeway_status_conflicts_total":           "Another writer wrote the same parent in between; each costs one more read and write. Some are normal; one for each write means a writer that never rests.",
	"causeway_status_repairs_total":             "`takeover` after a restart, `change` for what no webhook is asked about, and `deferred` are normal in small numbers. `undone`: another writer takes the truth back, so the overlay is not called; see [operating.md](operating.md#causewayrepairsclimbing).",
	"causeway_status_repair_failures_total":     "The API server refuses or loses Causeway's patches; the log says which.",
	"causeway_status_pending_settled_total":     "These entries had lapsed. `gone`: a write that Causeway answered for was refused by something after it. `stored`: the watch is slow. `failed`: the API server did not answer; it is asked again.",
	"causeway_status_pending_instances":         "A few, for moments. Climbing: the watch is behind or silent; see `cache_age_seconds`.",
	"causeway_status_cache_age_seconds":         "Up to some 75 s where nothing happens. More: the watch is dead and answers rest on old facts; see [operating.md](operating.md#causewaycachestale).",
	"causeway_status_watch_events_total":        "How much happens. Overlay calls in `reviews_total` per event of the same resource: how many status requests store nothing.",
	"causeway_status_ledger_objects":            "The size of what is held in memory.",
	"causeway_status_workloads":                 "What customers read now, over all of them. A jump of one reason in many Workloads at once is a fault of the platform's, not theirs.",
	"causeway_status_instance_writes_total":     "Only with `--observe-pods`. `failing`: a provider claims an Instance available whose Pod is not.",
}
