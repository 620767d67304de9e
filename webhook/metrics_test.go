package webhook

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheMetricsAreNamedWell(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, RegisterMetrics(registry))
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	assert.Empty(t, problems)
}

func TestWhatIsRefusedAndWarnedOfIsCountedByClass(t *testing.T) {
	finding := func(class string) Finding { return Finding{Rule: RuleGrant, Class: class} }
	for name, tc := range map[string]struct {
		answer answer
		want   string
	}{
		"refused, each capability": {
			answer{outcome: OutcomeRefused, verdict: Verdict{Refused: []Finding{finding("web"), finding("web")}}}, "web refused 2",
		},
		"refused for a class that does not exist, whatever its author calls it": {
			answer{outcome: OutcomeRefused, verdict: Verdict{Refused: []Finding{finding("xyzzy")}}}, "other refused 1",
		},
		"refused because none is the default": {
			answer{outcome: OutcomeRefused, verdict: Verdict{Refused: []Finding{finding("")}}}, "none refused 1",
		},
		"kept by the ratchet": {
			answer{outcome: OutcomeKept, verdict: Verdict{Class: "web", Kept: 3, Warnings: []string{"..."}}}, "web warned 3",
		},
		"what --capabilities=warn would have refused": {
			answer{outcome: OutcomeWouldRefuse, verdict: Verdict{Refused: []Finding{finding("web")}}}, "web warned 1",
		},
		"a copy whose owner is elsewhere": {
			answer{outcome: OutcomeOwnerElsewhere, verdict: Verdict{Refused: []Finding{finding("web")}}}, "web warned 1",
		},
		"accepted":                {answer{outcome: OutcomeAllowed}, ""},
		"doubt finds nothing out": {answer{outcome: OutcomeDoubtRefused}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			registry := newRegistry()
			m, err := newMetrics(registry)
			require.NoError(t, err)
			m.classes.meet("web")
			m.count(workloads, tc.answer)
			assert.Equal(t, tc.want, strings.Join(movedByClass(t, registry, "causeway_capability_findings_total"), ", "))
		})
	}
}

// movedByClass are the series of a metric that are not zero, as the values of
// their labels and their own.
func movedByClass(t *testing.T, g prometheus.Gatherer, name string) []string {
	t.Helper()
	families, err := g.Gather()
	require.NoError(t, err)
	var out []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if v := m.GetCounter().GetValue(); f.GetName() == name && v != 0 {
				words := []string{}
				for _, l := range m.GetLabel() {
					words = append(words, l.GetValue())
				}
				out = append(out, fmt.Sprint(strings.Join(words, " "), " ", v))
			}
		}
	}
	return out
}

func TestAWithdrawalIsAChangeThatMayRefuseWhatPassedBefore(t *testing.T) {
	class := func(isDefault bool, grants ...string) *RuntimeClass {
		c := granting("web", grants...)
		c.Spec.Default = isDefault
		return &c
	}
	without := class(false, "CHOWN")
	without.Spec.Capabilities.Features = nil
	for name, tc := range map[string]struct {
		before, after *RuntimeClass
		want          []string
	}{
		"a class that is found":           {nil, class(true, "CHOWN"), nil},
		"nothing that matters":            {class(false, "CHOWN"), class(false, "CHOWN"), nil},
		"one capability more":             {class(false, "CHOWN"), class(false, "CHOWN", "KILL"), nil},
		"one capability less":             {class(false, "CHOWN", "KILL"), class(false, "KILL"), []string{"web 1"}},
		"the feature is gone":             {class(false, "CHOWN"), without, []string{"web 1"}},
		"deleted":                         {class(false, "CHOWN"), nil, []string{"web 1"}},
		"the default is deleted":          {class(true, "CHOWN"), nil, []string{"none 1", "web 1"}},
		"no longer the default":           {class(true, "CHOWN"), class(false, "CHOWN"), []string{"none 1"}},
		"now judges those that name none": {class(false, "CHOWN"), class(true, "CHOWN"), []string{"web 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			registry := newRegistry()
			w, err := New(Options{Classes: &reader{}, Live: &reader{}, Registerer: registry})
			require.NoError(t, err)
			w.ClassChanged(nil, class(false))
			w.ClassChanged(tc.before, tc.after)
			assert.Equal(t, tc.want, movedByClass(t, registry, "causeway_capability_class_withdrawals_total"))
		})
	}
}

func TestClassesThatExistHaveSeriesAtZeroAndNeverTooMany(t *testing.T) {
	registry := newRegistry()
	w, err := New(Options{Classes: &reader{}, Live: &reader{}, Registerer: registry})
	require.NoError(t, err)
	for i := range 3 * maxClassLabels {
		c := granting(fmt.Sprintf("class-%02d", i))
		w.ClassChanged(nil, &c)
		w.ClassChanged(&c, nil)
	}
	n, err := testutil.GatherAndCount(registry, "causeway_capability_findings_total")
	require.NoError(t, err)
	assert.Equal(t, 2*(maxClassLabels+2), n, "none and other besides")
	got := movedByClass(t, registry, "causeway_capability_class_withdrawals_total")
	assert.Len(t, got, maxClassLabels+1)
	assert.Equal(t, []string{"class-19 1", fmt.Sprintf("other %d", 2*maxClassLabels)}, got[maxClassLabels-1:])
}

func TestTheTimeOfAReviewIsThatOfItsHTTPRequest(t *testing.T) {
	registry := newRegistry()
	w, err := New(Options{Classes: &reader{}, Live: &reader{}, Registerer: registry})
	require.NoError(t, err)
	w.Handlers()[PathInstances].ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", PathInstances, nil))
	families, err := registry.Gather()
	require.NoError(t, err)
	got := map[string]uint64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "causeway_capability_review_duration_seconds" {
				got[m.GetLabel()[0].GetValue()] = m.GetHistogram().GetSampleCount()
			}
		}
	}
	assert.Equal(t, map[string]uint64{"workloads": 0, "workloaddeployments": 0, "instances": 1}, got)
}
