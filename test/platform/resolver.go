package platform

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// DataResolver writes what the referenced-data resolver finds out about a
// deployment (section 3.1): the condition ReferencedDataReady and, for what a
// user has to fix, the annotation that the deployment controller reads.
type DataResolver struct{ *Controller }

func newDataResolver(o Options) (*DataResolver, error) {
	base, err := newController(o, DataResolverUser, WriterOptions{})
	return &DataResolver{base}, err
}

// Set writes the condition.
func (r *DataResolver) Set(ctx context.Context, key types.NamespacedName, v Verdict) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		var deployment computeapi.WorkloadDeployment
		if err := r.live.Get(ctx, key, &deployment); err != nil {
			return err
		}
		stored := deployment.DeepCopy()
		v.set(&deployment.Status.Conditions, computeapi.ReferencedDataReadyCondition, deployment.Generation)
		return r.status.write(ctx, &deployment, stored)
	})
}

// Annotate writes the annotation; the zero Verdict removes it. An annotation
// wakes nobody: the deployment controller reads it in its next pass.
func (r *DataResolver) Annotate(ctx context.Context, key types.NamespacedName, v Verdict) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		var deployment computeapi.WorkloadDeployment
		if err := r.live.Get(ctx, key, &deployment); err != nil {
			return err
		}
		if deployment.Annotations == nil {
			deployment.Annotations = map[string]string{}
		}
		delete(deployment.Annotations, computeapi.ReferencedDataErrorAnnotation)
		if v != (Verdict{}) {
			said, err := json.Marshal(map[string]string{"reason": v.Reason, "message": v.Message})
			if err != nil {
				return err
			}
			deployment.Annotations[computeapi.ReferencedDataErrorAnnotation] = string(said)
		}
		return r.client.Update(ctx, &deployment)
	})
}
