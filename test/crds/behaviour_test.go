package crds_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/causeway-webhook/causeway/test/crds"
	"github.com/causeway-webhook/causeway/test/install"
)

// background is for cleanups, which run when the test's own context has ended.
var background = context.Background()

// conditionsOf returns the conditions of obj as YAML would write them.
func conditionsOf(t *testing.T, obj *unstructured.Unstructured) []any {
	t.Helper()
	conditions, _, err := unstructured.NestedSlice(obj.Object, "status", "conditions")
	require.NoError(t, err)
	return conditions
}

func decoded(t *testing.T, text string) (out []any) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal([]byte(text), &out))
	return out
}

const stampedConditions = `
- {type: Programmed, status: Unknown, reason: Pending, message: Waiting for controller, lastTransitionTime: "1970-01-01T00:00:00Z"}
- {type: Available, status: Unknown, reason: Pending, message: Waiting for controller, lastTransitionTime: "1970-01-01T00:00:00Z"}
- {type: Ready, status: Unknown, reason: Pending, message: Waiting for controller, lastTransitionTime: "1970-01-01T00:00:00Z"}
- {type: QuotaGranted, status: Unknown, reason: PendingEvaluation, message: Waiting for quota evaluation, lastTransitionTime: "1970-01-01T00:00:00Z"}
`

func TestNewObjectsAreStamped(t *testing.T) {
	assert.Equal(t, decoded(t, stampedConditions), conditionsOf(t, create(t, instances, instanceManifest)))
	assert.Equal(t, decoded(t, `
- {type: Available, status: Unknown, reason: Pending, message: Waiting for the class controller, lastTransitionTime: "1970-01-01T00:00:00Z"}
`), conditionsOf(t, create(t, runtimeClasses, runtimeClassManifest)))
	// A parent is not: its first status is its controller's.
	assert.NotContains(t, create(t, workloads, workloadManifest).Object, "status")
	assert.NotContains(t, create(t, deployments, deploymentManifest).Object, "status")
}

// The deployment controller may patch suspended before anybody wrote conditions.
func TestStampSurvivesAFirstStatusWithoutConditions(t *testing.T) {
	create(t, instances, instanceManifest)
	got, err := client.Resource(instances).Namespace("default").Patch(t.Context(), "web-main-us-0", "application/merge-patch+json",
		[]byte(`{"status":{"suspended":true}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	assert.Equal(t, decoded(t, stampedConditions), conditionsOf(t, got))
}

func TestFieldsThatTheReferenceSpellsOutArePruned(t *testing.T) {
	obj := object(t, workloadManifest)
	spec := []any{"spec", "template", "spec"}
	container := append(spec, "runtime", "sandbox", "containers", 0)
	set(t, obj, `1`, append(spec, "unknown")...)
	set(t, obj, `1`, append(spec, "runtime", "unknown")...)
	set(t, obj, `1`, append(spec, "runtime", "sandbox", "unknown")...)
	set(t, obj, `{capabilities: {add: [CHOWN], unknown: 1}, unknown: 1}`, append(container, "securityContext")...)
	set(t, obj, `[{name: PORT, value: "80"}]`, append(container, "env")...)
	set(t, obj, `{cpu: "1"}`, append(spec, "runtime", "resources")...)
	set(t, obj, `{labels: {a: b}, annotations: {c: d}, unknown: 1}`, "spec", "template", "metadata")

	got, err := client.Resource(workloads).Namespace("default").Create(t.Context(), obj, dryRun)
	require.NoError(t, err)
	want := object(t, workloadManifest)
	set(t, want, `{capabilities: {add: [CHOWN]}}`, append(container, "securityContext")...)
	set(t, want, `[{name: PORT, value: "80"}]`, append(container, "env")...)
	set(t, want, `{cpu: "1"}`, append(spec, "runtime", "resources")...)
	set(t, want, `{labels: {a: b}, annotations: {c: d}}`, "spec", "template", "metadata")
	assert.Equal(t, want.Object["spec"], got.Object["spec"])

	strict := dryRun
	strict.FieldValidation = metav1.FieldValidationStrict
	_, err = client.Resource(workloads).Namespace("default").Create(t.Context(), obj, strict)
	require.True(t, apierrors.IsBadRequest(err), "got %v", err)
	assert.ErrorContains(t, err, `unknown field "spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.unknown"`)
}

const counts = `replicas: 1, currentReplicas: 1, updatedReplicas: 1, desiredReplicas: 1, readyReplicas: 0`

// applyCondition applies a status with one condition as manager.
func applyCondition(t *testing.T, gvr schema.GroupVersionResource, of *unstructured.Unstructured, manager, status, conditionType string, force bool) (*unstructured.Unstructured, error) {
	t.Helper()
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(of.GroupVersionKind())
	obj.SetName(of.GetName())
	set(t, obj, status, "status")
	set(t, obj, `[{type: `+conditionType+`, status: "True", reason: A, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]`, "status", "conditions")
	return client.Resource(gvr).Namespace(of.GetNamespace()).ApplyStatus(t.Context(), of.GetName(), obj, metav1.ApplyOptions{FieldManager: manager, Force: force})
}

func conditionTypes(t *testing.T, obj *unstructured.Unstructured) (types []string) {
	t.Helper()
	for _, c := range conditionsOf(t, obj) {
		types = append(types, c.(map[string]any)["type"].(string))
	}
	return types
}

func TestConditionsOfParentsAndInstancesBelongToOneApplier(t *testing.T) {
	for name, tc := range map[string]struct {
		gvr      schema.GroupVersionResource
		manifest string
		status   string
	}{
		"Workload":           {workloads, workloadManifest, `{deployments: 1, ` + counts + `}`},
		"WorkloadDeployment": {deployments, deploymentManifest, `{` + counts + `}`},
		"Instance":           {instances, instanceManifest, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			obj := create(t, tc.gvr, tc.manifest)
			_, err := applyCondition(t, tc.gvr, obj, "first", tc.status, "First", false)
			require.NoError(t, err)
			_, err = applyCondition(t, tc.gvr, obj, "second", tc.status, "Second", false)
			require.True(t, apierrors.IsConflict(err), "got %v", err)
			assert.ErrorContains(t, err, `conflict with "first" with subresource "status"`)
			assert.ErrorContains(t, err, `.status.conditions`)
			got, err := applyCondition(t, tc.gvr, obj, "second", tc.status, "Second", true)
			require.NoError(t, err)
			assert.Equal(t, []string{"Second"}, conditionTypes(t, got), "the list is replaced whole")
		})
	}
}

func TestConditionsOfAClassAreSharedByAppliers(t *testing.T) {
	class := create(t, runtimeClasses, runtimeClassManifest)
	_, err := applyCondition(t, runtimeClasses, class, "first", `{}`, "First", false)
	require.NoError(t, err)
	got, err := applyCondition(t, runtimeClasses, class, "second", `{}`, "Second", false)
	require.NoError(t, err)
	assert.Subset(t, conditionTypes(t, got), []string{"First", "Second"})
}

func TestDeploymentsCanBeScaled(t *testing.T) {
	deployment := create(t, deployments, deploymentManifest)
	set(t, deployment, `{`+counts+`, selector: a=b}`, "status")
	at := client.Resource(deployments).Namespace("default")
	_, err := at.UpdateStatus(t.Context(), deployment, metav1.UpdateOptions{})
	require.NoError(t, err)

	// The API server scales from 0 but not from nothing, so a deployment that
	// lives by minReplicas has no scale until its first replicas is written.
	_, err = at.Get(t.Context(), deployment.GetName(), metav1.GetOptions{}, "scale")
	require.EqualError(t, err, `Internal error occurred: the spec replicas field ".spec.replicas" does not exist`)
	_, err = at.Patch(t.Context(), deployment.GetName(), "application/merge-patch+json", []byte(`{"spec":{"replicas":2}}`), metav1.PatchOptions{})
	require.NoError(t, err)

	scale, err := at.Get(t.Context(), deployment.GetName(), metav1.GetOptions{}, "scale")
	require.NoError(t, err)
	assert.Equal(t, "Scale", scale.GetKind())
	set(t, scale, `4`, "spec", "replicas")
	scale, err = at.Update(t.Context(), scale, metav1.UpdateOptions{}, "scale")
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"replicas": int64(1), "selector": "a=b"}, scale.Object["status"])

	got, err := at.Get(t.Context(), deployment.GetName(), metav1.GetOptions{})
	require.NoError(t, err)
	replicas, _, err := unstructured.NestedInt64(got.Object, "spec", "replicas")
	require.NoError(t, err)
	assert.EqualValues(t, 4, replicas)
}

func TestInstancesCanBeSelectedByClass(t *testing.T) {
	create(t, instances, instanceManifest)
	for selector, want := range map[string]int{"spec.runtime.class=general-purpose": 1, "spec.runtime.class=unikernel": 0} {
		list, err := client.Resource(instances).Namespace("default").List(t.Context(), metav1.ListOptions{FieldSelector: selector})
		require.NoError(t, err)
		assert.Len(t, list.Items, want, selector)
	}
}

func TestPublishedClassesAreAccepted(t *testing.T) {
	classes, err := crds.Classes()
	require.NoError(t, err)
	require.NoError(t, install.Install(t.Context(), config, classes, install.Options{}))
	t.Cleanup(func() {
		if err := install.Uninstall(background, config, classes); err != nil {
			t.Error(err)
		}
	})
	for name, want := range map[string]struct {
		isDefault bool
		grants    int
	}{"general-purpose": {false, 41}, "unikernel": {true, 0}} {
		class, err := client.Resource(runtimeClasses).Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		isDefault, _, err := unstructured.NestedBool(class.Object, "spec", "default")
		require.NoError(t, err)
		grants, _, err := unstructured.NestedSlice(class.Object, "spec", "capabilities", "grantableCapabilities")
		require.NoError(t, err)
		assert.Equal(t, want.isDefault, isDefault, name)
		assert.Len(t, grants, want.grants, name)
	}
}

// table asks for what kubectl prints.
func table(t *testing.T, plural, namespace, name string) metav1.Table {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	path := "/apis/compute.datumapis.com/v1alpha"
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	data, err := c.RESTClient().Get().AbsPath(path, plural, name).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	require.NoError(t, err)
	var out metav1.Table
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

func TestColumns(t *testing.T) {
	available := `[{type: Available, status: "False", reason: InstanceCrashing, message: it crashes, lastTransitionTime: "2026-01-01T00:00:00Z"}]`
	ready := `[{type: Ready, status: "False", reason: InstanceCrashing, message: it crashes, lastTransitionTime: "2026-01-01T00:00:00Z"}]`
	for name, tc := range map[string]struct {
		gvr         schema.GroupVersionResource
		manifest    string
		status      string
		wantColumns []string
		wantWide    []string
		wantCells   []any
	}{
		"Workload": {
			workloads, workloadManifest, `{deployments: 1, ` + counts + `, conditions: ` + available + `}`,
			[]string{"Name", "Available", "Reason", "Ready", "Desired", "Age"}, []string{"Message"},
			[]any{"web", "False", "InstanceCrashing", 0.0, 1.0, "0s", "it crashes"},
		},
		"WorkloadDeployment": {
			deployments, deploymentManifest, `{` + counts + `, conditions: ` + available + `}`,
			[]string{"Name", "Available", "Reason", "Ready", "Desired", "Replicas", "Age"}, []string{"Location", "Message"},
			[]any{"web-main-us", "False", "InstanceCrashing", 0.0, 1.0, 1.0, "0s", "us", "it crashes"},
		},
		"Instance": {
			instances, instanceManifest, `{conditions: ` + ready + `}`,
			[]string{"Name", "Ready", "Reason", "Available", "Age"}, []string{"Class", "Location", "Message"},
			[]any{"web-main-us-0", "False", "InstanceCrashing", nil, "0s", "general-purpose", "us", "it crashes"},
		},
		"RuntimeClass": {
			runtimeClasses, runtimeClassManifest, `{}`,
			[]string{"Name", "Default", "Isolation", "Available", "Reason", "Age"}, []string{"Controller", "Message"},
			[]any{"web", nil, "VirtualMachine", "Unknown", "Pending", "0s", "compute.datumapis.com/kata-provider", "Waiting for the class controller"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			obj := set(t, create(t, tc.gvr, tc.manifest), tc.status, "status")
			_, err := client.Resource(tc.gvr).Namespace(obj.GetNamespace()).UpdateStatus(t.Context(), obj, metav1.UpdateOptions{})
			require.NoError(t, err)
			got := table(t, tc.gvr.Resource, obj.GetNamespace(), obj.GetName())
			var columns, wide []string
			for i, column := range got.ColumnDefinitions {
				if column.Name == "Age" {
					got.Rows[0].Cells[i] = "0s" // whatever it is by now
				}
				if column.Priority == 0 {
					columns = append(columns, column.Name)
				} else {
					wide = append(wide, column.Name)
				}
			}
			assert.Equal(t, tc.wantColumns, columns)
			assert.Equal(t, tc.wantWide, wide)
			require.Len(t, got.Rows, 1)
			assert.Equal(t, tc.wantCells, got.Rows[0].Cells)
		})
	}
}
