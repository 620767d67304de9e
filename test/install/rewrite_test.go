package install_test

import (
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/causeway-webhook/causeway/test/install"
)

func object(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(manifest))
	require.NoError(t, err)
	obj := &unstructured.Unstructured{}
	require.NoError(t, obj.UnmarshalJSON(data))
	return obj
}

func TestRewriteChangesWhereAWebhookIsAndNothingElse(t *testing.T) {
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		before := object(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: `+kind+`
metadata: {name: x, labels: {a: b}}
webhooks:
- name: one
  clientConfig: {service: {name: first, namespace: ns, path: /validate, port: 443}}
  timeoutSeconds: 3
- name: two
  clientConfig: {service: {name: second, namespace: ns}, caBundle: b2xk}
- name: three
  clientConfig: {url: "https://elsewhere.example/", caBundle: a2VwdA==}
`)
		ca := base64.StdEncoding.EncodeToString([]byte("the CA"))
		want := object(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: `+kind+`
metadata: {name: x, labels: {a: b}}
webhooks:
- name: one
  clientConfig: {url: "https://127.0.0.1:1/validate", caBundle: `+ca+`}
  timeoutSeconds: 3
- name: two
  clientConfig: {url: "https://127.0.0.1:2/", caBundle: `+ca+`}
- name: three
  clientConfig: {url: "https://elsewhere.example/", caBundle: a2VwdA==}
`)
		given := before.DeepCopy()
		got, err := install.Rewrite([]*unstructured.Unstructured{given}, install.Options{
			WebhookURL: func(service string) string {
				return map[string]string{"first": "https://127.0.0.1:1", "second": "https://127.0.0.1:2/"}[service]
			},
			CABundle: []byte("the CA"),
		})
		require.NoError(t, err)
		if diff := cmp.Diff([]*unstructured.Unstructured{want}, got); diff != "" {
			t.Errorf("Rewrite(%s) (-want +got):\n%s", kind, diff)
		}
		assert.Equal(t, before, given, "what is given stays as it is")
	}
}

func TestRewriteWithoutAURLChangesNothing(t *testing.T) {
	objects, err := install.Render("testdata/base")
	require.NoError(t, err)
	got, err := install.Rewrite(objects, install.Options{CABundle: []byte("unused")})
	require.NoError(t, err)
	assert.Equal(t, objects, got)
}

func TestRewriteRefusesAServiceThatNobodyServes(t *testing.T) {
	objects, err := install.Render("testdata/base")
	require.NoError(t, err)
	_, err = install.Rewrite(objects, install.Options{WebhookURL: func(string) string { return "" }})
	require.EqualError(t, err, `rewrite ValidatingWebhookConfiguration "guard": webhooks[0]: nothing serves as service "guard"`)
}
