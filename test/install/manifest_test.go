package install_test

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/causeway-webhook/causeway/test/install"
)

var deploy = filepath.Join("..", "..", "deploy")

func TestManifestSaysWhatItIsMadeOf(t *testing.T) {
	rendered, err := install.Manifest{Deploy: deploy, Overlay: "status-only", Components: []string{"hold-reason"}}.Render()
	require.NoError(t, err)
	first, rest, _ := strings.Cut(string(rendered), "\n")
	assert.Equal(t, "# Generated from deploy/ of github.com/causeway-webhook/causeway: overlay status-only with hold-reason. Change it there.", first)
	assert.True(t, strings.HasPrefix(rest, "apiVersion: v1\nkind: Namespace\n"), "what others live in comes first")
	assert.Contains(t, rest, "name: causeway-hold-reason")
}

func TestManifestNamesTheImage(t *testing.T) {
	for reference, want := range map[string]string{
		"":                                      "image: causeway\n",
		"r.example/causeway":                    "image: r.example/causeway\n",
		"r.example/causeway:v1":                 "image: r.example/causeway:v1\n",
		"r.example:5000/a/causeway":             "image: r.example:5000/a/causeway\n",
		"r.example:5000/a/causeway:v1":          "image: r.example:5000/a/causeway:v1\n",
		"r.example/causeway@sha256:0123456789a": "image: r.example/causeway@sha256:0123456789a\n",
	} {
		rendered, err := install.Manifest{Deploy: deploy, Overlay: "refusal-only", Image: reference}.Render()
		require.NoError(t, err)
		assert.Contains(t, string(rendered), want)
	}
}

// Of each overlay: what is named in text, where kustomize finds no names, is named as it is called there.
func TestManifestFollowsNamespaceAndPrefix(t *testing.T) {
	for _, overlay := range []string{"default", "self-managed", "status-only", "refusal-only"} {
		t.Run(overlay, func(t *testing.T) {
			rendered, err := install.Manifest{Deploy: deploy, Overlay: overlay, Namespace: "elsewhere", Prefix: "acme-"}.Render()
			require.NoError(t, err)
			assert.NotContains(t, string(rendered), "causeway-system")
			assert.NotContains(t, string(rendered), `"causeway"`, "the account in an expression")

			var services, certified, authorities, trusted []string
			for _, o := range decode(t, rendered) {
				switch o.GetKind() {
				case "Service":
					services = append(services, o.GetName()+".elsewhere.svc")
				case "Certificate":
					names, _, err := unstructured.NestedStringSlice(o.Object, "spec", "dnsNames")
					require.NoError(t, err)
					certified = append(certified, names...)
					if ca, _, _ := unstructured.NestedBool(o.Object, "spec", "isCA"); ca {
						authorities = append(authorities, o.GetNamespace()+"/"+o.GetName())
					}
				case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
					if from := o.GetAnnotations()["cert-manager.io/inject-ca-from"]; from != "" && !slices.Contains(trusted, from) {
						trusted = append(trusted, from)
					}
				}
			}
			require.NotEmpty(t, services)
			assert.Equal(t, authorities, trusted)
			if overlay == "self-managed" { // it asks the configurations for its names
				assert.Empty(t, certified)
				return
			}
			require.NotEmpty(t, trusted)
			assert.Subset(t, certified, services)
			assert.Equal(t, []string{"acme-causeway-webhook.elsewhere.svc", "acme-causeway-status.elsewhere.svc"}, certified)
		})
	}
}

func decode(t *testing.T, manifest []byte) (objects []*unstructured.Unstructured) {
	t.Helper()
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := documents.Decode(&o.Object)
		if err == io.EOF {
			return objects
		}
		require.NoError(t, err)
		objects = append(objects, o)
	}
}

func TestManifestSaysWhatIsMissing(t *testing.T) {
	_, err := install.Manifest{Deploy: deploy, Overlay: "none"}.Render()
	require.ErrorContains(t, err, "render a manifest: ")
	require.ErrorContains(t, err, "none")
}
