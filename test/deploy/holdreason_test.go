package deploy

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

const crashes = "1 of 1 instances is repeatedly exiting and restarting."

var (
	told      = condition("Available", "False", "InstanceCrashing", crashes)
	stock     = condition("Available", "False", "InstancesProvisioning", "Instances are being provisioned")
	stockW    = condition("Available", "False", "NoAvailablePlacements", "No available placements were found for the workload")
	available = condition("Available", "True", "StableInstanceFound", "1/1 instances are ready")
	quota     = condition("Available", "False", "QuotaNotGranted", "1 of 1 desired instances pending quota")
	foreign   = condition("AutoscalingReady", "True", "AutoscalerReady", "")
)

// placement is one entry of a Workload's status.placements.
func placement(name, conditions string) string {
	return `{"name":"` + name + `","replicas":1,"currentReplicas":0,"updatedReplicas":0,"desiredReplicas":1,"readyReplicas":0,"conditions":[` + conditions + `]}`
}

// deployedHold installs everything, waits until the policy acts, and takes away the webhooks, which nobody serves here.
func deployedHold(t *testing.T) (platform dynamic.Interface) {
	t.Helper()
	platform = admin(t)
	made(t, "WorkloadDeployment", "hold-probe")
	writeStatus(t, platform, "WorkloadDeployment", "hold-probe", counts("", told), metav1.UpdateOptions{})
	// reason is what comes of a default over the reason. Dry, so that nothing has to be put back.
	reason := func() any {
		r := platform.Resource(resource("workloaddeployments")).Namespace(namespace)
		patch := []byte(`[{"op":"replace","path":"/status/conditions/0","value":` + stock + `}]`)
		got, err := r.Patch(t.Context(), "hold-probe", types.JSONPatchType, patch, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, "status")
		if err != nil { // while the server has not read the CRD's schema yet
			return err.Error()
		}
		return reasonOf(t, got)
	}
	eventually(t, "the policy of the test before acts no more", func() bool { return reason() == "InstancesProvisioning" })
	deployed(t, "testdata/held", newStub(t))
	eventually(t, "the policy acts", func() bool { return reason() == "InstanceCrashing" })
	return platform
}

// tell writes a status as Causeway does: its account, a JSON patch.
func tell(t *testing.T, kind, name, status string) *unstructured.Unstructured {
	t.Helper()
	patch := []byte(`[{"op":"add","path":"/status","value":` + status + `}]`)
	stored, err := causeway(t).Resource(resource(judged[kind].resource)).Namespace(namespace).
		Patch(t.Context(), name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: "causeway"}, "status")
	require.NoError(t, err)
	return stored
}

func availableOf(t *testing.T, o *unstructured.Unstructured) map[string]any {
	t.Helper()
	conditions, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	require.NoError(t, err)
	for _, c := range conditions {
		if c := c.(map[string]any); c["type"] == "Available" {
			return c
		}
	}
	return nil
}

func reasonOf(t *testing.T, o *unstructured.Unstructured) any { return availableOf(t, o)["reason"] }

func TestHoldReason(t *testing.T) {
	platform := deployedHold(t)
	for name, tc := range map[string]struct {
		kind          string
		before, after string // conditions
		want          string // what is stored; empty: what was sent
	}{
		"a default does not undo a reason":                  {"WorkloadDeployment", told, stock, told},
		"nor on a Workload":                                 {"Workload", told, stockW, told},
		"nor an older name of it":                           {"WorkloadDeployment", told, condition("Available", "False", "ProvisioningInstances", "x"), told},
		"nor when other conditions change":                  {"WorkloadDeployment", told, stock + "," + foreign, told + "," + foreign},
		"wherever it stands in the list":                    {"WorkloadDeployment", foreign + "," + told, stock + "," + foreign, told + "," + foreign},
		"a placement's sentence is Causeway's too":          {"Workload", condition("Available", "False", "RuntimeClassNotServed", `placement "us": No cell`), stockW, condition("Available", "False", "RuntimeClassNotServed", `placement "us": No cell`)},
		"a True does":                                       {"WorkloadDeployment", told, available, ""},
		"a reason that says more does":                      {"WorkloadDeployment", told, quota, ""},
		"a controller's own sentence is not kept":           {"WorkloadDeployment", quota, stock, ""},
		"nor is a True":                                     {"WorkloadDeployment", available, stock, ""},
		"a default stays a default":                         {"WorkloadDeployment", stock, stock, ""},
		"a write without the condition is nobody's default": {"WorkloadDeployment", told, foreign, ""},
		"nor is one without conditions":                     {"WorkloadDeployment", told, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			id := uniqueName(t)
			made(t, tc.kind, id)
			tell(t, tc.kind, id, counts(tc.kind, tc.before))
			got := writeStatus(t, platform, tc.kind, id, counts(tc.kind, tc.after), metav1.UpdateOptions{FieldManager: "manager"})
			want := tc.want
			if want == "" {
				want = tc.after
			}
			var wantConditions []any
			require.NoError(t, json.Unmarshal([]byte("["+want+"]"), &wantConditions))
			conditions, _, err := unstructured.NestedSlice(got.Object, "status", "conditions")
			require.NoError(t, err)
			assert.Equal(t, len(wantConditions), len(conditions))
			for i := range wantConditions {
				assert.Equal(t, wantConditions[i], conditions[i])
			}
		})
	}
}

func TestHoldReasonLetsCausewayClear(t *testing.T) {
	deployedHold(t)
	made(t, "WorkloadDeployment", "cleared")
	tell(t, "WorkloadDeployment", "cleared", counts("", told))
	got := tell(t, "WorkloadDeployment", "cleared", counts("", stock))
	assert.Equal(t, "InstancesProvisioning", reasonOf(t, got))
}

// Each placement by its name, whatever its place in the list; all its other fields are the writer's.
func TestHoldReasonOfPlacements(t *testing.T) {
	platform := deployedHold(t)
	made(t, "Workload", "placed")
	stockP := condition("Available", "False", "NoAvailableDeployments", "No available deployments were found for the placement")
	tell(t, "Workload", "placed", counts("Workload", told, placement("eu", stockP), placement("us", told)))
	got := writeStatus(t, platform, "Workload", "placed", counts("Workload", stockW, placement("us", stockP), placement("ap", stockP), placement("eu", stockP)), metav1.UpdateOptions{})

	var want map[string]any
	require.NoError(t, json.Unmarshal([]byte(counts("Workload", told, placement("us", told), placement("ap", stockP), placement("eu", stockP))), &want))
	gotJSON, err := json.Marshal(got.Object["status"])
	require.NoError(t, err)
	wantJSON, err := json.Marshal(want)
	require.NoError(t, err)
	assert.JSONEq(t, string(wantJSON), string(gotJSON))
}

// The platform's workload controller writes on every event; a write that is held must not be one.
func TestHoldReasonStoresNothing(t *testing.T) {
	platform := deployedHold(t)
	for _, kind := range []string{"Workload", "WorkloadDeployment"} {
		t.Run(kind, func(t *testing.T) {
			id := uniqueName(t)
			made(t, kind, id)
			var before, after []string
			if kind == "Workload" {
				before = []string{placement("us", told)}
				after = []string{placement("us", condition("Available", "False", "NoAvailableDeployments", "x"))}
			}
			// Two controllers take turns, so that the ownership of the list would move with each write.
			write := func(manager string) *unstructured.Unstructured {
				return writeStatus(t, platform, kind, id, counts(kind, stock, after...), metav1.UpdateOptions{FieldManager: manager})
			}
			write("one")
			tell(t, kind, id, counts(kind, told, before...))
			stored := write("one")
			for i := range 20 {
				next := write([]string{"two", "one"}[i%2])
				require.Equal(t, stored.GetResourceVersion(), next.GetResourceVersion(), "write %d", i)
			}
			assert.Equal(t, "InstanceCrashing", reasonOf(t, stored))
		})
	}
}
