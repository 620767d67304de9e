package monitoring

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
)

// binary is the causeway binary.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "causeway-monitoring-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	if _, err := controlplane.EnsureBinaries(ctx, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if binary, err = environment.Binary(ctx, dir, true); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// targetLabels are those that a scrape adds.
var targetLabels = []string{"namespace", "pod", "instance"}

func TestWhatRulesAndPanelsNameIsShownByRealProcesses(t *testing.T) {
	shown := scraped(t)
	used := 0
	for where, expr := range expressions(t) {
		parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
		require.NoError(t, err, where)
		for _, s := range selectors(parsed) {
			used++
			series := shown[s.name]
			if !assert.NotEmpty(t, series, "%s: nobody shows %s", where, s.name) {
				continue
			}
			for _, label := range s.labels {
				assert.Contains(t, append(names(series), targetLabels...), label, "%s: a label of %s", where, s.name)
			}
			for _, m := range s.matchers {
				assert.True(t, anyMatches(series, m), "%s: no series of %s has %s", where, s.name, m)
			}
		}
	}
	assert.Greater(t, used, 30)
}

// expressions are those of all rules and panels, by where they stand.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, rule := range alerts(t) {
		out["alert "+name] = rule.Expr
	}
	panels, err := Dashboard(component)
	require.NoError(t, err)
	require.NotEmpty(t, panels)
	for _, p := range panels {
		for i, target := range p.Targets {
			out[fmt.Sprintf("panel %s, query %d", p.Title, i+1)] = At(target.Expr, time.Minute)
		}
	}
	return out
}

// selector is one metric that an expression asks for, with every label that the
// expression needs it to have.
type selector struct {
	name     string
	labels   []string
	matchers []*labels.Matcher
}

func selectors(expr parser.Expr) []selector {
	var out []selector
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		v, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		s := selector{name: v.Name}
		for _, m := range v.LabelMatchers {
			if m.Name != labels.MetricName {
				s.labels, s.matchers = append(s.labels, m.Name), append(s.matchers, m)
			}
		}
		for _, above := range path {
			if a, ok := above.(*parser.AggregateExpr); ok {
				s.labels = append(s.labels, a.Grouping...)
			}
		}
		out = append(out, s)
		return nil
	})
	return out
}

func names(series []map[string]string) []string {
	var out []string
	for _, s := range series {
		for name := range s {
			out = append(out, name)
		}
	}
	return out
}

func anyMatches(series []map[string]string, m *labels.Matcher) bool {
	for _, s := range series {
		if m.Matches(s[m.Name]) {
			return true
		}
	}
	return false
}

// scraped are the labels of every series by metric, from both processes and
// from an API server that has met a webhook which did not answer.
func scraped(t *testing.T) map[string][]map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	e, err := environment.Start(ctx, environment.Options{Binary: binary, DeployOverlay: "default", Webhook: 1, Statuspatch: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Stop()) })
	out := map[string][]map[string]string{}
	for _, p := range []*environment.Process{e.Webhooks[0], e.Sidecars[0]} {
		text, err := p.Metrics(ctx)
		require.NoError(t, err)
		add(t, out, text)
	}

	e.Webhooks[0].Kill()
	require.NoError(t, e.CreateNamespace(ctx, "shop"))
	provider, err := e.Client(environment.Writer)
	require.NoError(t, err)
	instance := &computeapi.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "api-0"}}
	instance.Spec = computeapi.NewWorkload("shop", "api", computeapi.WithAdd("SYS_ADMIN")).Spec.Template.Spec
	require.NoError(t, provider.Create(ctx, instance), "it is let through")
	system, err := kubernetes.NewForConfig(e.AdminConfig())
	require.NoError(t, err)
	text, err := system.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	require.NoError(t, err)
	add(t, out, string(text))
	return out
}

func add(t *testing.T, to map[string][]map[string]string, text string) {
	t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err)
	for name, f := range families {
		for _, m := range f.GetMetric() {
			series := map[string]string{}
			for _, l := range m.GetLabel() {
				series[l.GetName()] = l.GetValue()
			}
			if f.GetType() != dto.MetricType_HISTOGRAM {
				to[name] = append(to[name], series)
				continue
			}
			to[name+"_sum"], to[name+"_count"] = append(to[name+"_sum"], series), append(to[name+"_count"], series)
			bucket := map[string]string{"le": "1"}
			for k, v := range series {
				bucket[k] = v
			}
			to[name+"_bucket"] = append(to[name+"_bucket"], bucket)
		}
	}
}
