package crds_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/causeway-webhook/causeway/test/crds"
	"github.com/causeway-webhook/causeway/test/install"
)

// stored reads a CRD back from the server.
func stored(t *testing.T, plural string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	c, err := apiextensions.NewForConfig(config)
	require.NoError(t, err)
	crd, err := c.ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), plural+".compute.datumapis.com", metav1.GetOptions{})
	require.NoError(t, err)
	return crd
}

func version(t *testing.T, plural string) apiextensionsv1.CustomResourceDefinitionVersion {
	t.Helper()
	crd := stored(t, plural)
	require.Len(t, crd.Spec.Versions, 1)
	return crd.Spec.Versions[0]
}

// at walks a schema by the names of properties; "[]" goes to a list's items.
func at(t *testing.T, s *apiextensionsv1.JSONSchemaProps, path ...string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	for _, name := range path {
		if name == "[]" {
			require.NotNil(t, s.Items, path)
			s = s.Items.Schema
			continue
		}
		next, ok := s.Properties[name]
		require.True(t, ok, "%s of %v", name, path)
		s = &next
	}
	return s
}

func TestKindsScopesAndSubresources(t *testing.T) {
	for plural, tc := range map[string]struct {
		wantKind  string
		wantScope apiextensionsv1.ResourceScope
		wantScale *apiextensionsv1.CustomResourceSubresourceScale
	}{
		"runtimeclasses": {wantKind: "RuntimeClass", wantScope: apiextensionsv1.ClusterScoped},
		"workloads":      {wantKind: "Workload", wantScope: apiextensionsv1.NamespaceScoped},
		"instances":      {wantKind: "Instance", wantScope: apiextensionsv1.NamespaceScoped},
		"workloaddeployments": {
			wantKind:  "WorkloadDeployment",
			wantScope: apiextensionsv1.NamespaceScoped,
			wantScale: &apiextensionsv1.CustomResourceSubresourceScale{
				SpecReplicasPath:   ".spec.replicas",
				StatusReplicasPath: ".status.replicas",
				LabelSelectorPath:  new(".status.selector"),
			},
		},
	} {
		t.Run(plural, func(t *testing.T) {
			crd := stored(t, plural)
			assert.Equal(t, tc.wantKind, crd.Spec.Names.Kind)
			assert.Equal(t, tc.wantScope, crd.Spec.Scope)
			v := version(t, plural)
			assert.Equal(t, "v1alpha", v.Name)
			require.NotNil(t, v.Subresources)
			assert.NotNil(t, v.Subresources.Status)
			assert.Equal(t, tc.wantScale, v.Subresources.Scale)
		})
	}
	assert.Equal(t, []apiextensionsv1.SelectableField{{JSONPath: ".spec.runtime.class"}}, version(t, "instances").SelectableFields)
}

func TestListTypes(t *testing.T) {
	const atomic, set, byKey = "", "set", "map"
	template := []string{"spec", "template", "spec"}
	for name, tc := range map[string]struct {
		plural string
		path   []string
		want   string
	}{
		"workload conditions":           {"workloads", []string{"status", "conditions"}, atomic},
		"workload placements":           {"workloads", []string{"status", "placements"}, atomic},
		"workload placement conditions": {"workloads", []string{"status", "placements", "[]", "conditions"}, atomic},
		"workload spec placements":      {"workloads", []string{"spec", "placements"}, atomic},
		"deployment conditions":         {"workloaddeployments", []string{"status", "conditions"}, atomic},
		"instance conditions":           {"instances", []string{"status", "conditions"}, atomic},
		"instance interfaces":           {"instances", []string{"status", "networkInterfaces"}, atomic},
		"instance interface conditions": {"instances", []string{"status", "networkInterfaces", "[]", "conditions"}, atomic},
		"instance gates":                {"instances", []string{"spec", "controller", "schedulingGates"}, byKey},
		"class conditions":              {"runtimeclasses", []string{"status", "conditions"}, byKey},
		"class features":                {"runtimeclasses", []string{"spec", "capabilities", "features"}, set},
		"class grants":                  {"runtimeclasses", []string{"spec", "capabilities", "grantableCapabilities"}, set},
		"containers":                    {"workloads", append(template, "runtime", "sandbox", "containers"), byKey},
		"adds":                          {"workloads", append(template, "runtime", "sandbox", "containers", "[]", "securityContext", "capabilities", "add"), set},
		"drops":                         {"workloads", append(template, "runtime", "sandbox", "containers", "[]", "securityContext", "capabilities", "drop"), set},
	} {
		t.Run(name, func(t *testing.T) {
			s := at(t, version(t, tc.plural).Schema.OpenAPIV3Schema, tc.path...)
			got := ""
			if s.XListType != nil {
				got = *s.XListType
			}
			assert.Equal(t, "array", s.Type)
			assert.Equal(t, tc.want, got)
		})
	}
}

// One reference describes the spec of an Instance, wherever it stands, and one
// describes a condition.
func TestSharedPartsAreTheSameEverywhere(t *testing.T) {
	root := func(plural string) *apiextensionsv1.JSONSchemaProps { return version(t, plural).Schema.OpenAPIV3Schema }
	spec := at(t, root("instances"), "spec")
	for _, plural := range []string{"workloads", "workloaddeployments"} {
		if diff := cmp.Diff(spec, at(t, root(plural), "spec", "template", "spec")); diff != "" {
			t.Errorf("spec of an Instance in %s (-instances +%s):\n%s", plural, plural, diff)
		}
	}
	condition := at(t, root("instances"), "status", "conditions", "[]")
	for plural, paths := range map[string][][]string{
		"workloads":           {{"status", "conditions", "[]"}, {"status", "placements", "[]", "conditions", "[]"}},
		"workloaddeployments": {{"status", "conditions", "[]"}},
		"instances":           {{"status", "networkInterfaces", "[]", "conditions", "[]"}},
		"runtimeclasses":      {{"status", "conditions", "[]"}},
	} {
		for _, path := range paths {
			if diff := cmp.Diff(condition, at(t, root(plural), path...)); diff != "" {
				t.Errorf("condition in %s at %v (-want +got):\n%s", plural, path, diff)
			}
		}
	}
}

func TestCapabilityListsAreTheClosedListOf41(t *testing.T) {
	root := version(t, "runtimeclasses").Schema.OpenAPIV3Schema
	grants := at(t, root, "spec", "capabilities", "grantableCapabilities", "[]").Enum
	adds := at(t, root, "spec", "defaultSecurityContext", "capabilities", "add", "[]").Enum
	assert.Len(t, grants, 41)
	assert.Equal(t, grants, adds)
	assert.NotContains(t, grants, apiextensionsv1.JSON{Raw: []byte(`"ALL"`)})
}

// A manifest that nobody lists would be embedded here and missing on the plane
// of whoever applies the folder.
func TestKustomizationsListEveryManifest(t *testing.T) {
	for dir, load := range map[string]func() ([]*unstructured.Unstructured, error){
		".":       crds.Objects,
		"classes": crds.Classes,
	} {
		want, err := load()
		require.NoError(t, err)
		got, err := install.Render(dir)
		require.NoError(t, err)
		if diff := cmp.Diff(sortable(want), sortable(got)); diff != "" {
			t.Errorf("Render(%q) (-embedded +rendered):\n%s", dir, diff)
		}
	}
}

func sortable(objects []*unstructured.Unstructured) map[string]runtime.Object {
	byName := map[string]runtime.Object{}
	for _, obj := range objects {
		byName[obj.GetKind()+" "+obj.GetName()] = obj
	}
	return byName
}
