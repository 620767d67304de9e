package crds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Each case is the minimal valid object with one thing changed.

func TestWorkloadsRefused(t *testing.T) {
	container := func(rest ...any) []any {
		return append([]any{"spec", "template", "spec", "runtime", "sandbox", "containers", 0}, rest...)
	}
	for name, tc := range map[string]struct {
		value string
		path  []any
		want  string
	}{
		"no placements": {
			value: `[]`, path: []any{"spec", "placements"},
			want: `spec.placements: Invalid value: 0: spec.placements in body should have at least 1 items`,
		},
		"no locations and no selector": {
			value: `{name: main, scaleSettings: {minReplicas: 1}}`, path: []any{"spec", "placements"},
			want: `spec.placements[0]: Invalid value: exactly one of locations and locationSelector (or the deprecated cityCodes) must be set`,
		},
		"locations and a selector": {
			value: `{name: main, locations: [{name: us}], locationSelector: {matchLabels: {a: b}}, scaleSettings: {minReplicas: 1}}`, path: []any{"spec", "placements"},
			want: `spec.placements[0]: Invalid value: exactly one of locations and locationSelector (or the deprecated cityCodes) must be set`,
		},
		"an empty selector": {
			value: `{name: main, locationSelector: {}, scaleSettings: {minReplicas: 1}}`, path: []any{"spec", "placements"},
			want: `spec.placements[0].locationSelector: Invalid value: an empty selector would match every location`,
		},
		"no number of replicas": {
			value: `{name: main, locations: [{name: us}], scaleSettings: {}}`, path: []any{"spec", "placements"},
			want: `spec.placements[0].scaleSettings.minReplicas: Required value`,
		},
		"neither sandbox nor virtual machine": {
			value: `null`, path: []any{"spec", "template", "spec", "runtime", "sandbox"},
			want: `spec.template.spec.runtime: Invalid value: exactly one of sandbox and virtualMachine must be set`,
		},
		"both sandbox and virtual machine": {
			value: `{}`, path: []any{"spec", "template", "spec", "runtime", "virtualMachine"},
			want: `spec.template.spec.runtime: Invalid value: exactly one of sandbox and virtualMachine must be set`,
		},
		"no containers": {
			value: `[]`, path: []any{"spec", "template", "spec", "runtime", "sandbox", "containers"},
			want: `spec.template.spec.runtime.sandbox.containers: Invalid value: 0: spec.template.spec.runtime.sandbox.containers in body should have at least 1 items`,
		},
		"two containers of one name": {
			value: `[{name: a}, {name: a}]`, path: []any{"spec", "template", "spec", "runtime", "sandbox", "containers"},
			want: `spec.template.spec.runtime.sandbox.containers[1]: Duplicate value: {"name":"a"}`,
		},
		"two network interfaces": {
			value: `[{}, {}]`, path: []any{"spec", "template", "spec", "networkInterfaces"},
			want: `spec.template.spec.networkInterfaces: Too many: 2: must have at most 1 item`,
		},
		"a capability in lower case": {
			value: `{add: [sys_admin]}`, path: container("securityContext", "capabilities"),
			want: `spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.add[0]: Invalid value: "sys_admin": spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.add[0] in body should match '^[A-Z_]+$'`,
		},
		"a dropped capability in lower case": {
			value: `{drop: [all]}`, path: container("securityContext", "capabilities"),
			want: `spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.drop[0]: Invalid value: "all": spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.drop[0] in body should match '^[A-Z_]+$'`,
		},
		"a capability twice": {
			value: `{add: [CHOWN, CHOWN]}`, path: container("securityContext", "capabilities"),
			want: `spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.add[1]: Duplicate value: "CHOWN"`,
		},
		"an unknown seccomp profile": {
			value: `{type: Localhost}`, path: container("securityContext", "seccompProfile"),
			want: `spec.template.spec.runtime.sandbox.containers[0].securityContext.seccompProfile.type: Unsupported value: "Localhost": supported values: "RuntimeDefault", "Unconfined"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.path[len(tc.path)-1] == "placements" && tc.value != "[]" {
				tc.value = "[" + tc.value + "]"
			}
			obj := set(t, object(t, workloadManifest), tc.value, tc.path...)
			_, err := client.Resource(workloads).Namespace("default").Create(t.Context(), obj, dryRun)
			assertCause(t, err, tc.want)
		})
	}
}

// Names are for admission to judge: the schema lets through what only looks wrong.
func TestCapabilityNamesAreLeftToAdmission(t *testing.T) {
	obj := set(t, object(t, workloadManifest), `{add: [ALL, CAP_CHOWN, NO_SUCH], drop: [ALL]}`,
		"spec", "template", "spec", "runtime", "sandbox", "containers", 0, "securityContext", "capabilities")
	_, err := client.Resource(workloads).Namespace("default").Create(t.Context(), obj, dryRun)
	require.NoError(t, err)
}

func TestRuntimeClassesRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		value string
		path  []any
		want  string
	}{
		"grants without the feature": {
			value: `{features: [sandboxRuntime], grantableCapabilities: [CHOWN]}`, path: []any{"spec", "capabilities"},
			want: `spec.capabilities: Invalid value: grantableCapabilities must be set if and only if features lists containerCapabilities`,
		},
		"the feature without grants": {
			value: `{features: [containerCapabilities]}`, path: []any{"spec", "capabilities"},
			want: `spec.capabilities: Invalid value: grantableCapabilities must be set if and only if features lists containerCapabilities`,
		},
		"the feature with no grant in the list": {
			value: `{features: [containerCapabilities], grantableCapabilities: []}`, path: []any{"spec", "capabilities"},
			want: `spec.capabilities: Invalid value: grantableCapabilities must be set if and only if features lists containerCapabilities`,
		},
		"sysctls without the feature": {
			value: `{features: [sandboxRuntime], supportedSysctls: [{name: a}]}`, path: []any{"spec", "capabilities"},
			want: `spec.capabilities: Invalid value: supportedSysctls must be set if and only if features lists sandboxSysctls`,
		},
		"sysctls for no sandbox": {
			value: `{features: [sandboxSysctls], supportedSysctls: [{name: a}]}`, path: []any{"spec", "capabilities"},
			want: `spec.capabilities: Invalid value: sandboxSysctls requires sandboxRuntime`,
		},
		"an unknown feature": {
			value: `{features: [flight]}`, path: []any{"spec", "capabilities"},
			want: `spec.capabilities.features[0]: Unsupported value: "flight": supported values: "sandboxRuntime", "virtualMachineRuntime", "configMapVolumes", "secretVolumes", "diskVolumes", "deviceVolumeAttachments", "envFrom", "imagePullSecrets", "containerCapabilities", "sandboxSysctls", "exec"`,
		},
		"a default that is not granted": {
			value: `{capabilities: {add: [CHOWN]}}`, path: []any{"spec", "defaultSecurityContext"},
			want: `spec: Invalid value: each defaultSecurityContext.capabilities.add must also be in capabilities.grantableCapabilities`,
		},
		"no controller": {
			value: `null`, path: []any{"spec", "controllerName"},
			want: `spec.controllerName: Required value`,
		},
		"a controller without a domain": {
			value: `kata`, path: []any{"spec", "controllerName"},
			want: `spec.controllerName: Invalid value: "kata": spec.controllerName in body should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$'`,
		},
		"no boundary": {
			value: `{}`, path: []any{"spec", "isolation"},
			want: `spec.isolation.boundary: Required value`,
		},
		"an unknown attachment": {
			value: `Cable`, path: []any{"spec", "networkAttachment"},
			want: `spec.networkAttachment: Unsupported value: "Cable": supported values: "Netns", "Hypervisor", "HypervisorDeclared"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			obj := set(t, object(t, runtimeClassManifest), tc.value, tc.path...)
			_, err := client.Resource(runtimeClasses).Create(t.Context(), obj, dryRun)
			assertCause(t, err, tc.want)
		})
	}
}

func TestNamesOutsideTheClosedListCannotBeGranted(t *testing.T) {
	for _, name := range []string{"ALL", "CAP_CHOWN", "chown", "NO_SUCH"} {
		obj := set(t, object(t, runtimeClassManifest), `{features: [containerCapabilities], grantableCapabilities: [`+name+`]}`, "spec", "capabilities")
		_, err := client.Resource(runtimeClasses).Create(t.Context(), obj, dryRun)
		require.True(t, apierrors.IsInvalid(err), "%s: got %v", name, err)
		assert.ErrorContains(t, err, `spec.capabilities.grantableCapabilities[0]: Unsupported value: "`+name+`": supported values: "AUDIT_CONTROL"`)
	}
}

func TestControllerNameIsImmutable(t *testing.T) {
	class := create(t, runtimeClasses, runtimeClassManifest)
	set(t, class, "compute.datumapis.com/other", "spec", "controllerName")
	_, err := client.Resource(runtimeClasses).Update(t.Context(), class, metav1.UpdateOptions{})
	assertCause(t, err, `spec.controllerName: Invalid value: "compute.datumapis.com/other": controllerName is immutable`)
}

func TestStatusWithoutCountsIsRefused(t *testing.T) {
	const conditions = `
conditions:
- {type: Available, status: "False", reason: InstanceCrashing, message: crashing, lastTransitionTime: "2026-01-01T00:00:00Z"}
`
	deployment := set(t, create(t, deployments, deploymentManifest), conditions, "status")
	_, err := client.Resource(deployments).Namespace("default").UpdateStatus(t.Context(), deployment, metav1.UpdateOptions{})
	for _, count := range []string{"replicas", "currentReplicas", "updatedReplicas", "desiredReplicas", "readyReplicas"} {
		assertCause(t, err, "status."+count+": Required value")
	}
	workload := set(t, create(t, workloads, workloadManifest), conditions, "status")
	_, err = client.Resource(workloads).Namespace("default").UpdateStatus(t.Context(), workload, metav1.UpdateOptions{})
	for _, count := range []string{"deployments", "replicas", "currentReplicas", "updatedReplicas", "desiredReplicas", "readyReplicas"} {
		assertCause(t, err, "status."+count+": Required value")
	}
}

func TestConditionsRefused(t *testing.T) {
	instance := create(t, instances, instanceManifest)
	for name, tc := range map[string]struct {
		condition string
		want      string
	}{
		"a reason with a space": {
			condition: `{type: Ready, status: "False", reason: "no way", message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}`,
			want:      `status.conditions[0].reason: Invalid value: "no way": conditions[0].reason in body should match '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'`,
		},
		"an unknown status": {
			condition: `{type: Ready, status: Maybe, reason: A, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}`,
			want:      `status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"`,
		},
		"no message": {
			condition: `{type: Ready, status: "False", reason: A, lastTransitionTime: "2026-01-01T00:00:00Z"}`,
			want:      `status.conditions[0].message: Required value`,
		},
		"no transition time": {
			condition: `{type: Ready, status: "False", reason: A, message: ""}`,
			want:      `status.conditions[0].lastTransitionTime: Required value`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			obj := set(t, instance.DeepCopy(), "["+tc.condition+"]", "status", "conditions")
			_, err := client.Resource(instances).Namespace("default").UpdateStatus(t.Context(), obj, metav1.UpdateOptions{})
			assertCause(t, err, tc.want)
		})
	}
}

var dryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

// assertCause asserts that err is a 422 one of whose causes reads want.
func assertCause(t *testing.T, err error, want string) {
	t.Helper()
	require.True(t, apierrors.IsInvalid(err), "got %v", err)
	var causes []string
	for _, cause := range err.(apierrors.APIStatus).Status().Details.Causes {
		causes = append(causes, cause.Field+": "+cause.Message)
	}
	assert.Contains(t, causes, want)
}

// create stores a manifest until the end of the test.
func create(t *testing.T, gvr schema.GroupVersionResource, manifest string) *unstructured.Unstructured {
	t.Helper()
	obj := object(t, manifest)
	at := client.Resource(gvr).Namespace(obj.GetNamespace())
	stored, err := at.Create(t.Context(), obj, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := at.Delete(background, obj.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return stored
}
