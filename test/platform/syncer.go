package platform

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// StatusSyncer stands in for what copies statuses from a cell into a project
// plane (section 3.1): it replaces a whole status, so that a foreign condition
// lives only until the next difference is synced. The cell's side is whoever
// calls it; pause the controllers that live in the cell meanwhile.
type StatusSyncer struct{ *Controller }

func newStatusSyncer(o Options) (*StatusSyncer, error) {
	base, err := newController(o, StatusSyncerUser, WriterOptions{})
	return &StatusSyncer{base}, err
}

// Deployment replaces the status of a deployment and returns when it is stored.
func (s *StatusSyncer) Deployment(ctx context.Context, key types.NamespacedName, status computeapi.WorkloadDeploymentStatus) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		var deployment computeapi.WorkloadDeployment
		if err := s.live.Get(ctx, key, &deployment); err != nil {
			return err
		}
		stored := deployment.DeepCopy()
		deployment.Status = *status.DeepCopy()
		return s.status.write(ctx, &deployment, stored)
	})
}

// Instance replaces the status of an Instance and returns when it is stored.
func (s *StatusSyncer) Instance(ctx context.Context, key types.NamespacedName, status computeapi.InstanceStatus) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		var instance computeapi.Instance
		if err := s.live.Get(ctx, key, &instance); err != nil {
			return err
		}
		stored := instance.DeepCopy()
		instance.Status = *status.DeepCopy()
		return s.status.write(ctx, &instance, stored)
	})
}
