package monitoring

import (
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const component = "../../deploy/components/monitoring"

func alerts(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	groups, err := Rules(component)
	require.NoError(t, err)
	out := map[string]rulefmt.Rule{}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			out[r.Alert] = r
		}
	}
	return out
}

// Each alert over a history, at one sample a minute.
func TestEachAlertFiresWhenItShouldAndOnlyThen(t *testing.T) {
	const started = `
		causeway_status_reviews_total{webhook="instances",outcome="applied"}   0+60x60
		causeway_status_reviews_total{webhook="instances",outcome="deferred"}  0x60
		causeway_status_parent_writes_total{kind="Workload",cause="request"}   0+10x60
	`
	for name, tc := range map[string]struct {
		alert   string
		history string
		at      int      // minutes
		want    []string // summaries
	}{
		"nobody answers the API server": {"CausewayWebhookFailingOpen",
			`apiserver_admission_webhook_fail_open_count{name="instances.status.causeway.dev",type="validating"} 0+6x60`, 20,
			[]string{"The API server lets requests pass that webhook instances.status.causeway.dev should have seen."}},
		"a hand-over lets a few pass": {"CausewayWebhookFailingOpen",
			`apiserver_admission_webhook_fail_open_count{name="instances.status.causeway.dev"} 0x10 3x50`, 12, nil},
		"somebody else's webhook fails open": {"CausewayWebhookFailingOpen",
			`apiserver_admission_webhook_fail_open_count{name="x.example.com"} 0+6x60`, 20, nil},

		"one of two is active": {"CausewayNoActiveStatuspatch",
			"causeway_status_active{pod=\"a\"} 1x60\ncauseway_status_active{pod=\"b\"} 0x60", 30, nil},
		"all stand by": {"CausewayNoActiveStatuspatch",
			"causeway_status_active{pod=\"a\"} 1x10 0x50\ncauseway_status_active{pod=\"b\"} 0x60", 20,
			[]string{"No causeway statuspatch is the active one."}},
		"all are gone": {"CausewayNoActiveStatuspatch",
			"causeway_status_active{pod=\"a\"} 1x10 stale", 30,
			[]string{"No causeway statuspatch is the active one."}},
		"another has taken over": {"CausewayNoActiveStatuspatch",
			"causeway_status_active{pod=\"a\"} 1x10 stale\ncauseway_status_active{pod=\"b\"} 0x10 1x50", 30, nil},
		"there never was a status half": {"CausewayNoActiveStatuspatch", "causeway_build_info 1x60", 30, nil},

		"all is told in time": {"CausewayStatusWritesDeferred", started, 30, nil},
		"one in ten is told late": {"CausewayStatusWritesDeferred",
			"causeway_status_reviews_total{webhook=\"instances\",outcome=\"applied\"} 0+54x60\n" +
				"causeway_status_reviews_total{webhook=\"instances\",outcome=\"deferred\"} 0+6x60", 30,
			[]string{"Parents are not updated within the Instance's own write."}},
		"nothing happens": {"CausewayStatusWritesDeferred",
			"causeway_status_reviews_total{webhook=\"instances\",outcome=\"applied\"} 7x60\n" +
				"causeway_status_reviews_total{webhook=\"instances\",outcome=\"deferred\"} 7x60", 30, nil},

		"repairs are few": {"CausewayRepairsClimbing", started + `
			causeway_status_repairs_total{kind="Workload",cause="change"} 0+2x60
			causeway_status_repairs_total{kind="Workload",cause="undone"} 0x60
			causeway_status_repair_failures_total{kind="Workload"} 0x60`, 30, nil},
		"a take-over repairs many": {"CausewayRepairsClimbing", started + `
			causeway_status_repairs_total{kind="Workload",cause="takeover"} 0x10 5000x50`, 14, nil},
		"another writer undoes them": {"CausewayRepairsClimbing", started + `
			causeway_status_repairs_total{kind="Workload",cause="undone"} 0+3x60`, 30,
			[]string{"The repair loop does the work of the webhooks for kind Workload."}},
		"Instances go up and down, and now and then a repair looks undone": {"CausewayRepairsClimbing", `
			causeway_status_parent_writes_total{kind="Workload",cause="request"} 0+100x60
			causeway_status_repairs_total{kind="Workload",cause="undone"} 0+1x60`, 30, nil},
		"another writer undoes them while nothing else happens": {"CausewayRepairsClimbing", `
			causeway_status_parent_writes_total{kind="Workload",cause="request"} 0x60
			causeway_status_repairs_total{kind="Workload",cause="undone"} 0+1x60`, 30,
			[]string{"The repair loop does the work of the webhooks for kind Workload."}},
		"they fail": {"CausewayRepairsClimbing", started + `
			causeway_status_repair_failures_total{kind="Workload"} 0+2x60`, 30,
			[]string{"The repair loop does the work of the webhooks for kind Workload."}},
		"they outnumber what requests write": {"CausewayRepairsClimbing", started + `
			causeway_status_repairs_total{kind="Workload",cause="change"} 0+20x60`, 30,
			[]string{"The repair loop does the work of the webhooks for kind Workload."}},

		"a certificate for a month is about to be renewed": {"CausewayCertificateExpiresSoon", `
			causeway_certificate_expiry_timestamp_seconds{instance="a:8080"} 864000x60
			causeway_certificate_lifetime_seconds{instance="a:8080"} 2592000x60`, 30, nil},
		"a certificate for three months has as little left": {"CausewayCertificateExpiresSoon", `
			causeway_certificate_expiry_timestamp_seconds{instance="a:8080"} 864000x60
			causeway_certificate_lifetime_seconds{instance="a:8080"} 7776000x60`, 30,
			[]string{"The serving certificate of a:8080 was not renewed."}},
		"there is none": {"CausewayCertificateExpiresSoon", `
			causeway_certificate_expiry_timestamp_seconds{instance="a:8080"} 0x60
			causeway_certificate_lifetime_seconds{instance="a:8080"} 0x60`, 30,
			[]string{"The serving certificate of a:8080 was not renewed."}},

		"refusals as ever": {"CausewayRefusalsAfterClassChange", `
			causeway_capability_findings_total{class="web",decision="refused"} 0+1x60
			causeway_capability_class_withdrawals_total{class="web"} 0x60`, 30, nil},
		"a class shrank and nobody minds": {"CausewayRefusalsAfterClassChange", `
			causeway_capability_findings_total{class="web",decision="refused"} 0x60
			causeway_capability_class_withdrawals_total{class="web"} 0x20 1x40`, 30, nil},
		"a class shrank and another refuses": {"CausewayRefusalsAfterClassChange", `
			causeway_capability_findings_total{class="gpu",decision="refused"} 0+1x60
			causeway_capability_class_withdrawals_total{class="web"} 0x20 1x40`, 30, nil},
		"a class shrank and customers keep what it no longer grants": {"CausewayRefusalsAfterClassChange", `
			causeway_capability_findings_total{class="web",decision="warned"} 0x22 0+1x38
			causeway_capability_class_withdrawals_total{class="web"} 0x20 1x40`, 30,
			[]string{"Runtime class web grants less than before, and customers run into it."}},

		"a quiet watch": {"CausewayCacheStale",
			`causeway_status_cache_age_seconds{instance="a:8082",resource="instances"} 60x60`, 30, nil},
		"a dead watch": {"CausewayCacheStale",
			`causeway_status_cache_age_seconds{instance="a:8082",resource="instances"} 0+60x60`, 30,
			[]string{"a:8082 has not heard of instances for 30m 0s."}},
	} {
		t.Run(name, func(t *testing.T) {
			rule, ok := alerts(t)[tc.alert]
			require.True(t, ok, tc.alert)
			assert.ElementsMatch(t, tc.want, firing(t, rule, tc.history, tc.at))
		})
	}
}

// firing are the summaries of an alert that fires so many minutes into a history.
func firing(t *testing.T, rule rulefmt.Rule, history string, minutes int) []string {
	t.Helper()
	load := "load 1m\n"
	for line := range strings.Lines(history) {
		if line = strings.TrimSpace(line); line != "" {
			load += "  " + line + "\n"
		}
	}
	storage := promqltest.LoadedStorage(t, load)
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, 1_000_000)
	query := rules.EngineQueryFunc(engine, storage)
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(rule.Expr)
	require.NoError(t, err)
	alert := rules.NewAlertingRule(rule.Alert, expr, time.Duration(rule.For), 0,
		labels.FromMap(rule.Labels), labels.FromMap(rule.Annotations), labels.EmptyLabels(), "", true, promslog.NewNopLogger())
	for i := range minutes + 1 {
		_, err := alert.Eval(t.Context(), 0, time.Unix(int64(60*i), 0), query, &url.URL{}, 0)
		require.NoError(t, err)
	}
	var out []string
	for _, a := range alert.ActiveAlerts() {
		if a.State == rules.StateFiring {
			out = append(out, a.Annotations.Get("summary"))
		}
	}
	return out
}

func TestEachAlertSaysHowBadItIsAndWhatToDo(t *testing.T) {
	operating, err := os.ReadFile("../../docs/operating.md")
	require.NoError(t, err)
	var headings []string
	for line := range strings.Lines(string(operating)) {
		if strings.HasPrefix(line, "#") {
			headings = append(headings, strings.Trim(line, "# `\n"))
		}
	}
	for name, rule := range alerts(t) {
		assert.Contains(t, []string{"warning", "critical"}, rule.Labels["severity"], name)
		assert.NotEmpty(t, rule.Annotations["description"], name)
		assert.Equal(t, "https://github.com/causeway-webhook/causeway/blob/main/docs/operating.md#"+strings.ToLower(name),
			rule.Annotations["runbook_url"])
		assert.Contains(t, headings, name, "a heading of docs/operating.md")
	}
}
