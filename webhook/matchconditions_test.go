package webhook

import (
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/yaml"
)

func TestMatchConditionsOfAnInstance(t *testing.T) {
	assert.Equal(t, []admissionregistrationv1.MatchCondition{
		{Name: "adds-a-capability", Expression: `has(object.spec) && object.spec != null && ` +
			`has(object.spec.runtime) && object.spec.runtime != null && ` +
			`has(object.spec.runtime.sandbox) && object.spec.runtime.sandbox != null && ` +
			`has(object.spec.runtime.sandbox.containers) && object.spec.runtime.sandbox.containers != null && ` +
			`object.spec.runtime.sandbox.containers.exists(c, ` +
			`has(c.securityContext) && c.securityContext != null && ` +
			`has(c.securityContext.capabilities) && c.securityContext.capabilities != null && ` +
			`has(c.securityContext.capabilities.add) && c.securityContext.capabilities.add != null && ` +
			`size(c.securityContext.capabilities.add) > 0)`},
		{Name: "created-or-runtime-changed", Expression: `request.operation == "CREATE" || !(` +
			`has(oldObject.spec) && oldObject.spec != null && ` +
			`has(oldObject.spec.runtime) && oldObject.spec.runtime != null && ` +
			`oldObject.spec.runtime == object.spec.runtime)`},
	}, MatchConditions("instances"))
	assert.Nil(t, MatchConditions("pods"))
}

// The manifest and the code must agree on paths, conditions and what becomes of
// a request that nobody answers.
func TestTheManifestSaysTheSame(t *testing.T) {
	raw, err := os.ReadFile("../deploy/components/refusal/webhooks.yaml")
	require.NoError(t, err)
	var manifest admissionregistrationv1.ValidatingWebhookConfiguration
	require.NoError(t, yaml.UnmarshalStrict(raw, &manifest))
	require.Len(t, manifest.Webhooks, len(resources))
	for i, r := range resources {
		w := manifest.Webhooks[i]
		t.Run(r.name, func(t *testing.T) {
			require.Len(t, w.Rules, 1)
			assert.Equal(t, []string{Group}, w.Rules[0].APIGroups)
			assert.Equal(t, []string{GroupVersion.Version}, w.Rules[0].APIVersions)
			assert.Equal(t, []string{r.name}, w.Rules[0].Resources)
			assert.Equal(t, []admissionregistrationv1.OperationType{"CREATE", "UPDATE"}, w.Rules[0].Operations)
			assert.Equal(t, r.path, *w.ClientConfig.Service.Path)
			assert.Equal(t, []string{"v1"}, w.AdmissionReviewVersions)
			assert.Equal(t, admissionregistrationv1.SideEffectClassNone, *w.SideEffects)
			assert.Equal(t, admissionregistrationv1.Equivalent, *w.MatchPolicy)
			assert.InDelta(t, (maxBudget + budgetSpare).Seconds(), *w.TimeoutSeconds, 0)
			want := admissionregistrationv1.Ignore
			if r.submitted {
				want = admissionregistrationv1.Fail
			}
			assert.Equal(t, want, *w.FailurePolicy)
			conditions := MatchConditions(r.name)
			require.Len(t, w.MatchConditions, len(conditions))
			for j, c := range conditions {
				assert.Equal(t, c.Name, w.MatchConditions[j].Name)
				assert.Equal(t, unspaced(c.Expression), unspaced(w.MatchConditions[j].Expression))
			}
		})
	}
}

func unspaced(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
