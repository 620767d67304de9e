package platform_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/platform"
)

var foreign = metav1.Condition{
	Type: "Foreign", Status: metav1.ConditionTrue, Reason: "Added", Message: "by somebody else",
	LastTransitionTime: metav1.Unix(1700000000, 0), ObservedGeneration: 42,
}

// patient goes on for seconds: the controllers write on every event.
var patient = wait.Backoff{Steps: 20, Duration: 10 * time.Millisecond, Factor: 1.3, Jitter: 0.1}

// updateStatus changes a status as a careful foreign writer does.
func updateStatus(w *world, obj client.Object, change func()) {
	w.t.Helper()
	require.NoError(w.t, retry.RetryOnConflict(patient, func() error {
		if err := w.client.Get(w.ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			return err
		}
		change()
		return w.client.Status().Update(w.ctx, obj)
	}))
}

func requireForeign(t *testing.T, conditions []metav1.Condition) {
	t.Helper()
	c := computeapi.Condition(conditions, foreign.Type)
	require.NotNil(t, c, "the foreign condition is gone")
	require.True(t, foreign.LastTransitionTime.Equal(&c.LastTransitionTime))
	c.LastTransitionTime = foreign.LastTransitionTime
	require.Equal(t, foreign, *c)
}

// TestForeignConditionsLiveThroughTheControllersAndTheProvider: they read,
// modify and write, and keep types they do not know (section 3.1).
func TestForeignConditionsLiveThroughTheControllersAndTheProvider(t *testing.T) {
	w := start(t)
	workload := w.workload("web", 1)
	deployment, instance := w.onlyDeployment(), w.instanceKeys(1)[0]
	w.untilWorkload(workload, availableView.workload)

	i, d, wl := w.getInstance(instance), w.getDeployment(deployment), w.getWorkload(workload)
	updateStatus(w, i, func() { i.Status.Conditions = append(i.Status.Conditions, foreign) })
	updateStatus(w, d, func() { d.Status.Conditions = append(d.Status.Conditions, foreign) })
	updateStatus(w, wl, func() {
		wl.Status.Conditions = append(wl.Status.Conditions, foreign)
		wl.Status.Placements[0].Conditions = append(wl.Status.Placements[0].Conditions, foreign)
	})

	// One round of writes by everybody, down and up again.
	require.NoError(t, w.Provider.Set(t.Context(), instance, platform.ImageUnavailable))
	w.untilWorkload(workload, provisioningView.workload)
	require.NoError(t, w.Provider.Set(t.Context(), instance, platform.Running))
	w.untilWorkload(workload, availableView.workload)

	requireForeign(t, w.getInstance(instance).Status.Conditions)
	requireForeign(t, w.getDeployment(deployment).Status.Conditions)
	after := w.getWorkload(workload)
	requireForeign(t, after.Status.Conditions)
	requireForeign(t, after.Status.Placements[0].Conditions)
}

// TestForeignConditionsDieWithTheNextSyncedStatus: in the project plane whole
// statuses are replaced (section 3.1).
func TestForeignConditionsDieWithTheNextSyncedStatus(t *testing.T) {
	w := start(t)
	w.workload("web", 1)
	deployment, instance := w.onlyDeployment(), w.instanceKeys(1)[0]
	w.untilDeployment(deployment, computeapi.AvailableCondition, availableView.available)
	w.Deployment.Pause()
	w.Instance.Pause()
	w.Provider.Pause()

	i, d := w.getInstance(instance), w.getDeployment(deployment)
	fromCell, instanceFromCell := d.DeepCopy().Status, i.DeepCopy().Status
	updateStatus(w, i, func() { i.Status.Conditions = append(i.Status.Conditions, foreign) })
	updateStatus(w, d, func() { d.Status.Conditions = append(d.Status.Conditions, foreign) })

	fromCell.ReadyReplicas = 0
	require.NoError(t, w.StatusSyncer.Deployment(t.Context(), deployment, fromCell))
	require.NoError(t, w.StatusSyncer.Instance(t.Context(), instance, instanceFromCell))
	require.Equal(t, int32(0), w.getDeployment(deployment).Status.ReadyReplicas)
	require.Nil(t, computeapi.Condition(w.getDeployment(deployment).Status.Conditions, foreign.Type))
	require.Nil(t, computeapi.Condition(w.getInstance(instance).Status.Conditions, foreign.Type))
}
