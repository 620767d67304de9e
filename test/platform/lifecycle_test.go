package platform_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/platform"
)

// TestOrderedReady: an Instance is made when its predecessor is Ready, and a
// failing one is not replaced after its template is corrected (section 2).
func TestOrderedReady(t *testing.T) {
	w := start(t, func(o *platform.Options) { o.Initial = platform.Provisioning })
	workload := w.workload("web", 2)
	deployment, first := w.onlyDeployment(), w.instanceKeys(1)[0]
	w.untilInstance(first, "Ready", "Unknown/Provisioning Instance is provisioning")
	w.settleDeployment(first)
	require.Len(t, w.instances(), 1)

	require.NoError(t, w.Provider.Set(t.Context(), first, platform.Running))
	second := w.instanceKeys(2)[1]
	w.untilInstance(second, "Ready", "Unknown/Provisioning Instance is provisioning")
	w.untilDeployment(deployment, "Available", "True/StableInstanceFound 1/2 instances are ready")

	require.NoError(t, w.Provider.Set(t.Context(), second, platform.ImageUnavailable))
	// Its controller writes its status meanwhile, so a version that was read may be old.
	fix := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/template/spec/runtime/sandbox/containers/0/image","value":"registry.example/app:2"}]`))
	require.NoError(t, w.client.Patch(t.Context(), w.getWorkload(workload), fix))
	w.eventually("the deployment has the new template", func() error {
		if d := w.getDeployment(deployment); d.Status.ObservedGeneration != d.Generation || d.Generation < 2 {
			return errors.New("it has not")
		}
		return nil
	})
	w.settleDeployment(second)
	require.Equal(t, "registry.example/app:1", w.getInstance(second).Spec.Runtime.Sandbox.Containers[0].Image)

	// Once it is Ready, both are replaced, from the top, and their successors
	// run.
	require.NoError(t, w.Provider.Set(t.Context(), types.NamespacedName{Namespace: w.namespace}, platform.Running))
	require.NoError(t, w.Provider.Set(t.Context(), second, platform.Running))
	w.eventually("both run the new image", func() error {
		list := w.instances()
		for _, instance := range list {
			if image := instance.Spec.Runtime.Sandbox.Containers[0].Image; image != "registry.example/app:2" {
				return fmt.Errorf("%s runs %s", instance.Name, image)
			}
		}
		if len(list) != 2 {
			return errors.New("there are not two")
		}
		return nil
	})
}

// TestParallelScaleAndCollect: all at once, scaled down and up by the scale
// subresource's field, and collected from the top.
func TestParallelScaleAndCollect(t *testing.T) {
	w := start(t, func(o *platform.Options) { o.Parallel, o.Initial = true, platform.Provisioning })
	workload := w.workload("web", 3)
	deployment := w.onlyDeployment()
	keys := w.instanceKeys(3)
	owner := metav1.GetControllerOf(w.getInstance(keys[0]))
	require.Equal(t, w.getDeployment(deployment).UID, owner.UID)
	require.Equal(t, w.getWorkload(workload).UID, metav1.GetControllerOf(w.getDeployment(deployment)).UID)

	scale := func(n int) {
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n)
		require.NoError(t, w.client.Patch(t.Context(), w.getDeployment(deployment), client.RawPatch(types.MergePatchType, patch)))
		w.instanceKeys(n)
	}
	scale(1)
	require.Equal(t, keys[0], w.instanceKeys(1)[0], "the highest go first")
	scale(2)

	// Scaling is not undone by the Workload's next event.
	annotate(w, w.getWorkload(workload), "example.com/event", "1")
	w.untilWorkload(workload, provisioningView.workload)
	require.Len(t, w.instances(), 2)

	require.NoError(t, w.client.Delete(t.Context(), w.getWorkload(workload)))
	w.eventually("all is collected", func() error {
		// A pass that has not heard of the end of the Workload may make one more.
		if n := len(w.deployments()) + len(w.instances()); n > 0 {
			return fmt.Errorf("%d objects left", n)
		}
		return nil
	})
}

// TestARecreatedWorkloadGetsDeploymentsOfItsOwn: what the old one left is
// collected by UID, never by name.
func TestARecreatedWorkloadGetsDeploymentsOfItsOwn(t *testing.T) {
	w := start(t)
	workload := w.workload("web", 1)
	old := w.onlyDeployment()
	require.NoError(t, w.client.Delete(t.Context(), w.getWorkload(workload)))
	w.workload("web", 1)
	w.untilWorkload(workload, availableView.workload)
	w.eventually("the old deployment is collected", func() error {
		if list := w.deployments(); len(list) != 1 || list[0].Name == old.Name {
			return fmt.Errorf("there are %d", len(list))
		}
		return nil
	})
}
