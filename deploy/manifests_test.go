// Package deploy_test ties the manifests to the code they speak of, so that neither changes alone.
package deploy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	strictyaml "sigs.k8s.io/yaml"

	"github.com/causeway-webhook/causeway/statuspatch"
	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/webhook"
)

// notCauseway tells the account of base/serviceaccount.yaml by the name the API server gives it. In parts, so that
// transformers/own-name can write another namespace and name between the quotes.
const notCauseway = `request.userInfo.username != "system:serviceaccount:" + "causeway-system" + ":" + "causeway"`

// read decodes the documents of a file in turn, strictly: a field that is misspelt is an error.
func read(t *testing.T, file string, into ...any) {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(file))
	require.NoError(t, err)
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for _, o := range into {
		document, err := documents.Read()
		require.NoError(t, err)
		require.NoError(t, strictyaml.UnmarshalStrict(document, o))
	}
	_, err = documents.Read()
	require.True(t, errors.Is(err, io.EOF), "%s has more documents", file)
}

func TestRefusalIsWhatTheWebhookServes(t *testing.T) {
	var config admissionregistrationv1.ValidatingWebhookConfiguration
	read(t, "components/refusal/webhooks.yaml", &config)
	want := map[string]struct {
		path   string
		policy admissionregistrationv1.FailurePolicyType
	}{
		"workloads":           {webhook.PathWorkloads, admissionregistrationv1.Fail},
		"workloaddeployments": {webhook.PathWorkloadDeployments, admissionregistrationv1.Ignore},
		"instances":           {webhook.PathInstances, admissionregistrationv1.Ignore},
	}
	require.Len(t, config.Webhooks, len(want))
	for _, w := range config.Webhooks {
		resource, _, _ := strings.Cut(w.Name, ".")
		t.Run(resource, func(t *testing.T) {
			assert.Equal(t, resource+".capabilities.causeway.dev", w.Name)
			assert.Equal(t, []string{resource}, w.Rules[0].Resources)
			assert.Equal(t, []string{webhook.GroupVersion.Group}, w.Rules[0].APIGroups)
			assert.Equal(t, []string{webhook.GroupVersion.Version}, w.Rules[0].APIVersions)
			assert.Equal(t, want[resource].path, *w.ClientConfig.Service.Path)
			assert.Equal(t, want[resource].policy, *w.FailurePolicy)
			assert.Equal(t, webhook.MatchConditions(resource), w.MatchConditions)
			assert.Equal(t, webhook.NamespaceSelector("causeway-system"), w.NamespaceSelector)
		})
	}
}

func TestStatusIsWhatStatuspatchServes(t *testing.T) {
	var status admissionregistrationv1.ValidatingWebhookConfiguration
	var overlay admissionregistrationv1.MutatingWebhookConfiguration
	read(t, "components/status/webhooks-status.yaml", &status)
	read(t, "components/status/webhooks-overlay.yaml", &overlay)

	got := map[string]string{}
	for _, w := range status.Webhooks {
		got[w.Rules[0].Resources[0]] = *w.ClientConfig.Service.Path
		assert.Equal(t, admissionregistrationv1.Ignore, *w.FailurePolicy, "a status write is never refused")
	}
	for _, w := range overlay.Webhooks {
		got[w.Rules[0].Resources[0]] = *w.ClientConfig.Service.Path
		assert.Equal(t, admissionregistrationv1.Ignore, *w.FailurePolicy, "a status write is never refused")
		require.Len(t, w.MatchConditions, 1)
		assert.Equal(t, notCauseway, w.MatchConditions[0].Expression)
	}
	assert.Equal(t, map[string]string{
		"instances/status":           statuspatch.PathInstances,
		"workloaddeployments/status": statuspatch.PathDeployments,
		"workloads/status":           statuspatch.PathWorkloads,
	}, got)
}

func TestHoldReasonKnowsTheSameDefaults(t *testing.T) {
	var policy admissionregistrationv1.MutatingAdmissionPolicy
	var binding admissionregistrationv1.MutatingAdmissionPolicyBinding
	read(t, "components/hold-reason/policy.yaml", &policy, &binding)
	assert.Equal(t, policy.Name, binding.Spec.PolicyName)
	assert.Equal(t, notCauseway, policy.Spec.MatchConditions[0].Expression)

	expressions := ""
	for _, c := range policy.Spec.MatchConditions {
		expressions += c.Expression
	}
	for _, v := range policy.Spec.Variables {
		expressions += v.Expression
	}
	lists := regexp.MustCompile(`\["[^\]]*\]`).FindAllString(expressions, -1)
	assert.Len(t, lists, 3, "match conditions cannot use variables, so the list is repeated")
	for _, list := range lists {
		var got []string
		require.NoError(t, json.Unmarshal([]byte(list), &got))
		assert.ElementsMatch(t, reason.OfRank(reason.Default), got)
	}
}

// The API server compares precedences only; what lies between which is the point.
func TestFlowSchemasComeBeforeTheBuiltInOnesForServiceAccounts(t *testing.T) {
	var levels [3]flowcontrolv1.PriorityLevelConfiguration
	var schemas [3]flowcontrolv1.FlowSchema
	read(t, "base/flow-control.yaml", &levels[0], &schemas[0], &levels[1], &schemas[1], &levels[2], &schemas[2])
	for i, s := range schemas {
		assert.Equal(t, levels[i].Name, s.Spec.PriorityLevelConfiguration.Name)
		assert.Greater(t, s.Spec.MatchingPrecedence, int32(900), "behind what keeps the cluster alive")
		assert.Less(t, s.Spec.MatchingPrecedence, int32(9000), "before service-accounts")
		assert.Zero(t, *levels[i].Spec.Limited.LendablePercent)
	}
	assert.NotEmpty(t, schemas[0].Spec.Rules[0].NonResourceRules, "a client's discovery must not queue behind what waits for it")
}
