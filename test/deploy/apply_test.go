package deploy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/causeway-webhook/causeway/test/install"
)

var endpointSlices = schema.GroupVersionResource{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}

// A warning of the API server's is a field it does not know, an expression that cannot work or a name given twice.
func TestEverythingAppliesWithoutAWarning(t *testing.T) {
	for name, dir := range map[string]string{
		"default": overlay("default"), "status-only": overlay("status-only"), "refusal-only": overlay("refusal-only"),
		"self-managed": overlay("self-managed"), "everything": "testdata/everything", "renamed": "testdata/renamed",
		"Pods and metrics": withComponents(t, "default", []string{"observe-pods", "capability-hint", "secure-metrics"}, nil),
		"URLs": withComponents(t, "self-managed", []string{"observe-pods", "url"},
			[]string{"webhook=https://causeway.example.com:9443", "status=https://causeway.example.com:9444"}),
	} {
		t.Run(name, func(t *testing.T) {
			objects := deployed(t, dir, nil)
			said := &warnings{}
			config := rest.CopyConfig(cp.AdminConfig())
			config.WarningHandler = said
			client, err := discovery.NewDiscoveryClientForConfig(config)
			require.NoError(t, err)
			mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
			for _, o := range objects {
				mapping, err := mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
				require.NoError(t, err)
				var r dynamic.ResourceInterface = as(t, config).Resource(mapping.Resource)
				if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
					r = as(t, config).Resource(mapping.Resource).Namespace(o.GetNamespace())
				}
				_, err = r.Apply(t.Context(), o.GetName(), o, metav1.ApplyOptions{FieldManager: install.FieldManager, DryRun: []string{metav1.DryRunAll}})
				require.NoError(t, err, "%s %s", o.GetKind(), o.GetName())
			}
			assert.Empty(t, said.text)
		})
	}
}

// Upgrading applies the manifests again, while some process is active.
func TestApplyingAgainKeepsTheActiveProcess(t *testing.T) {
	objects := deployed(t, overlay("default"), nil)
	slices := causeway(t).Resource(endpointSlices).Namespace(ownNamespace)
	patch := []byte(`{"endpoints":[{"addresses":["192.0.2.7"],"conditions":{"ready":true}}]}`)
	_, err := slices.Patch(t.Context(), "causeway-status", "application/merge-patch+json", patch, metav1.PatchOptions{FieldManager: "causeway"})
	require.NoError(t, err)

	require.NoError(t, install.Install(t.Context(), cp.AdminConfig(), objects, install.Options{}))
	after, err := slices.Get(t.Context(), "causeway-status", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, []any{map[string]any{"addresses": []any{"192.0.2.7"}, "conditions": map[string]any{"ready": true}}}, after.Object["endpoints"])
}
