package deploy_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	strictyaml "sigs.k8s.io/yaml"

	"github.com/causeway-webhook/causeway/statuspatch"
)

// The webhook on Instances' own status comes with its component alone, and answers where statuspatch serves it.
func TestObservePodsIsWhatStatuspatchServes(t *testing.T) {
	data, err := os.ReadFile("components/observe-pods/webhook.yaml")
	require.NoError(t, err)
	var operations []struct {
		Op    string
		Path  string
		Value admissionregistrationv1.MutatingWebhook
	}
	require.NoError(t, strictyaml.UnmarshalStrict(data, &operations))
	require.Len(t, operations, 1)
	assert.Equal(t, "/webhooks/-", operations[0].Path)
	w := operations[0].Value
	assert.Equal(t, statuspatch.PathPods, *w.ClientConfig.Service.Path)
	assert.Equal(t, []string{"instances/status"}, w.Rules[0].Resources)
	assert.Equal(t, admissionregistrationv1.Ignore, *w.FailurePolicy, "a status write is never refused")
	require.Len(t, w.MatchConditions, 2)
	assert.Equal(t, notCauseway, w.MatchConditions[0].Expression)

	var status admissionregistrationv1.ValidatingWebhookConfiguration
	read(t, "components/status/webhooks-status.yaml", &status)
	assert.Equal(t, status.Webhooks[0].MatchConditions[0], w.MatchConditions[1], "both look at the same writes")

	var overlay admissionregistrationv1.MutatingWebhookConfiguration
	read(t, "components/status/webhooks-overlay.yaml", &overlay)
	for _, other := range overlay.Webhooks {
		assert.NotEqual(t, w.Rules[0].Resources, other.Rules[0].Resources)
	}
}
