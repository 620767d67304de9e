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

// rude writes an Available condition over the statuses of a deployment and of
// the Workload "api", as a controller does that never looks at reasons.
type rude struct {
	*scene
	deployment string
	writer     client.WithWatch
}

func (s *scene) rude(deployment string) *rude {
	s.t.Helper()
	writer, err := s.Client(environment.Writer)
	require.NoError(s.t, err)
	return &rude{s, deployment, writer}
}

// style sends a condition list over a status: whole by update, or by merge
// patch, with the version that was read or blindly.
type style func(o client.Object, conditions *[]metav1.Condition) error

// styles are those of three controllers, each with a field manager of its own.
func (r *rude) styles() []style {
	return []style{
		func(o client.Object, _ *[]metav1.Condition) error {
			return r.writer.Status().Update(r.ctx, o, client.FieldOwner("manager-update"))
		},
		func(o client.Object, conditions *[]metav1.Condition) error {
			return r.merge(o, "manager-patch", map[string]any{
				"metadata": map[string]any{"resourceVersion": o.GetResourceVersion()},
				"status":   map[string]any{"conditions": *conditions},
			})
		},
		func(o client.Object, conditions *[]metav1.Condition) error {
			return r.merge(o, "manager-blind", map[string]any{"status": map[string]any{"conditions": *conditions}})
		},
	}
}

func (r *rude) merge(o client.Object, manager string, patch any) error {
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	return r.writer.Status().Patch(r.ctx, o, client.RawPatch(types.MergePatchType, body), client.FieldOwner(manager))
}

// write says it of both parents, and returns what is stored of it.
func (r *rude) write(send style, v said) (deployment, workload said) {
	r.t.Helper()
	d := get(r.scene, r.deployment, &computeapi.WorkloadDeployment{})
	meta.SetStatusCondition(&d.Status.Conditions, available(v))
	require.NoError(r.t, send(d, &d.Status.Conditions))
	w := get(r.scene, "api", &computeapi.Workload{})
	meta.SetStatusCondition(&w.Status.Conditions, available(v))
	require.NoError(r.t, send(w, &w.Status.Conditions))
	return saysOf(d.Status.Conditions, computeapi.AvailableCondition), saysOf(w.Status.Conditions, computeapi.AvailableCondition)
}

// versions are the resourceVersions of both parents.
func (s *scene) versions(deployment, workload string) [2]string {
	s.t.Helper()
	return [2]string{
		get(s, deployment, &computeapi.WorkloadDeployment{}).ResourceVersion,
		get(s, workload, &computeapi.Workload{}).ResourceVersion,
	}
}
