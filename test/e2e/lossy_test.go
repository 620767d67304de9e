package e2e

import (
	"encoding/json"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

// lossyWriters write today's lossy answer over the statuses of a deployment and
// of the Workload "api", one by update and one by merge patch, each with a field
// manager of its own.
func (s *scene) lossyWriters(deployment string) []func() {
	s.t.Helper()
	writer, err := s.Client(environment.Writer)
	require.NoError(s.t, err)
	lossy := metav1.Condition{
		Type: computeapi.AvailableCondition, Status: metav1.ConditionFalse,
		Reason: "InstancesProvisioning", Message: "Instances are being provisioned", ObservedGeneration: 1,
	}
	return []func(){
		func() {
			d := get(s, deployment, &computeapi.WorkloadDeployment{})
			meta.SetStatusCondition(&d.Status.Conditions, lossy)
			require.NoError(s.t, writer.Status().Update(s.ctx, d, client.FieldOwner("manager-a")))
			w := get(s, "api", &computeapi.Workload{})
			meta.SetStatusCondition(&w.Status.Conditions, lossy)
			require.NoError(s.t, writer.Status().Update(s.ctx, w, client.FieldOwner("manager-a")))
		},
		func() {
			d := get(s, deployment, &computeapi.WorkloadDeployment{})
			meta.SetStatusCondition(&d.Status.Conditions, lossy)
			s.mergeConditions(writer, d, d.Status.Conditions)
			w := get(s, "api", &computeapi.Workload{})
			meta.SetStatusCondition(&w.Status.Conditions, lossy)
			s.mergeConditions(writer, w, w.Status.Conditions)
		},
	}
}

// mergeConditions merges a whole condition list into a status, as a provider
// does: with the version it read.
func (s *scene) mergeConditions(writer client.Client, o client.Object, conditions []metav1.Condition) {
	s.t.Helper()
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": o.GetResourceVersion()},
		"status":   map[string]any{"conditions": conditions},
	})
	require.NoError(s.t, err)
	require.NoError(s.t, writer.Status().Patch(s.ctx, o, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("manager-b")))
}

// versions are the resourceVersions of both parents.
func (s *scene) versions(deployment, workload string) [2]string {
	s.t.Helper()
	return [2]string{
		get(s, deployment, &computeapi.WorkloadDeployment{}).ResourceVersion,
		get(s, workload, &computeapi.Workload{}).ResourceVersion,
	}
}
