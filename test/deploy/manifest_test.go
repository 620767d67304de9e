package deploy

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/install"
)

// The one file that `make install-manifest` writes is what the overlay renders, and the API server takes it from top to
// bottom.
func TestTheManifestIsTheOverlayAndAppliesFromTopToBottom(t *testing.T) {
	for _, name := range []string{"default", "status-only", "refusal-only", "self-managed"} {
		t.Run(name, func(t *testing.T) {
			rendered, err := install.Manifest{Deploy: "../../deploy", Overlay: name}.Render()
			require.NoError(t, err)
			objects := decode(t, rendered)
			overlaid, err := install.Render(overlay(name))
			require.NoError(t, err)
			assert.ElementsMatch(t, overlaid, objects)

			c := clientFor(t, cp.AdminConfig())
			objects = install.WithoutOperators(objects)
			t.Cleanup(func() {
				rest := slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return o.GetKind() == "Namespace" })
				require.NoError(t, install.Uninstall(context.Background(), cp.AdminConfig(), rest))
			})
			for _, dry := range []bool{false, true} { // dry as an upgrade would: everything is there
				options := []client.ApplyOption{client.FieldOwner("installer"), client.ForceOwnership}
				if dry {
					options = append(options, client.DryRunAll)
				}
				for _, o := range objects {
					require.NoError(t, c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()), options...), "%s %s", o.GetKind(), o.GetName())
				}
			}
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
		// As the other objects: by way of JSON, in which whole numbers are of one type.
		data, err := o.MarshalJSON()
		require.NoError(t, err)
		require.NoError(t, o.UnmarshalJSON(data))
		objects = append(objects, o)
	}
}
