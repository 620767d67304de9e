package platform_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/platform"
)

// annotate makes an event of an object that says nothing to the platform.
func annotate(w *world, obj client.Object, key, value string) {
	w.t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, value)
	require.NoError(w.t, w.client.Patch(w.ctx, obj, client.RawPatch(types.MergePatchType, patch)))
}

// TestTheWorkloadControllerWritesOnEveryEvent: no predicate, and its guard
// against needless writes never matches (section 5). The API server drops what
// is identical.
func TestTheWorkloadControllerWritesOnEveryEvent(t *testing.T) {
	w := start(t)
	workload := w.workload("web", 1)
	w.untilWorkload(workload, availableView.workload)
	w.settleDeployment(w.instanceKeys(1)[0])
	// The deployment has its last status by now; the Workload has to have it too.
	w.eventually("the Workload counts what its deployment counts", func() error {
		d, got := w.getDeployment(w.onlyDeployment()).Status, w.getWorkload(workload).Status
		want := [5]int32{d.Replicas, d.CurrentReplicas, d.UpdatedReplicas, d.DesiredReplicas, d.ReadyReplicas}
		if has := [5]int32{got.Replicas, got.CurrentReplicas, got.UpdatedReplicas, got.DesiredReplicas, got.ReadyReplicas}; has != want {
			return fmt.Errorf("%v, not %v", has, want)
		}
		return nil
	})

	for i := range 3 {
		before := w.Workload.Writes()
		annotate(w, w.getWorkload(workload), "example.com/event", fmt.Sprint(i))
		w.eventually("it has written again", func() error {
			if w.Workload.Writes().Calls == before.Calls {
				return errors.New("it has not")
			}
			return nil
		})
		require.Equal(t, before.Stored, w.Workload.Writes().Stored, "an identical status was stored")
	}
}

// TestTheWorkloadControllerUndoesOthers: another writer's status is an event
// too, and its own answer comes back at once.
func TestTheWorkloadControllerUndoesOthers(t *testing.T) {
	w := start(t)
	workload := w.workload("web", 1)
	w.untilWorkload(workload, availableView.workload)
	obj := w.getWorkload(workload)
	updateStatus(w, obj, func() { computeapi.Condition(obj.Status.Conditions, "Available").Message = "the truth" })
	w.untilWorkload(workload, availableView.workload)
}

// TestTheDeploymentControllerSleepsThroughForeignStatuses: of updates of its own
// kind it sees only a few (section 4), so what another writer stored stays until
// an Instance has an event.
func TestTheDeploymentControllerSleepsThroughForeignStatuses(t *testing.T) {
	w := start(t)
	w.workload("web", 1)
	deployment, instance := w.onlyDeployment(), w.instanceKeys(1)[0]
	w.untilDeployment(deployment, "Available", availableView.available)
	w.settleDeployment(instance)

	obj := w.getDeployment(deployment)
	turn := 0
	w.eventually("what another writer stored stays", func() error {
		// More than once, for the event of the Instance that settled it may be on
		// its way still, and then brings the platform's message back.
		before := w.Workload.Writes()
		updateStatus(w, obj, func() { computeapi.Condition(obj.Status.Conditions, "Available").Message = "the truth" })
		turn++
		annotate(w, obj, "example.com/event", fmt.Sprint(turn))
		w.eventually("the workload controller, which listens, has heard of it", func() error {
			if w.Workload.Writes().Calls == before.Calls {
				return errors.New("it has not")
			}
			return nil
		})
		if got := computeapi.Summary(w.getDeployment(deployment).Status.Conditions, "Available"); got != "True/StableInstanceFound the truth" {
			return errors.New(got)
		}
		return nil
	})
	// It is deaf, not slow: it does hear of ReferencedDataReady, and then it
	// takes the message back.
	require.NoError(t, w.DataResolver.Set(t.Context(), deployment, platform.DataReady))
	w.untilDeployment(deployment, "Available", availableView.available)

	updateStatus(w, obj, func() { computeapi.Condition(obj.Status.Conditions, "Available").Message = "the truth" })
	w.eventually("an event of the instance brings the platform's message back", func() error {
		// More than one, for its cache may hear of the Instance first and of
		// the foreign status later, which alone wakes nobody.
		w.settleDeployment(instance)
		if got := computeapi.Summary(w.getDeployment(deployment).Status.Conditions, "Available"); got != availableView.available {
			return errors.New(got)
		}
		return nil
	})
}

// TestAPausedControllerWritesNothing, and does what piled up when it resumes.
func TestAPausedControllerWritesNothing(t *testing.T) {
	w := start(t)
	w.Workload.Pause()
	workload := w.workload("web", 1)
	before := w.Workload.Writes()

	// The others go on without it.
	w.eventually("the garbage collector sees it too", func() error {
		return w.client.Get(w.ctx, workload, &computeapi.Workload{})
	})
	require.Empty(t, w.deployments())
	w.Workload.Resume()
	w.untilWorkload(workload, availableView.workload)
	require.Greater(t, w.Workload.Writes().Calls, before.Calls)

	w.Instance.Pause()
	instance := w.instanceKeys(1)[0]
	require.NoError(t, w.Provider.Set(t.Context(), instance, platform.PodFailed))
	w.settleDeployment(instance)
	require.Equal(t, "True/Available Instance is ready", computeapi.Summary(w.getInstance(instance).Status.Conditions, "Ready"))
	w.Instance.Resume()
	w.untilInstance(instance, "Ready", "False/InstanceCrashing Instance stopped unexpectedly")
}

// TestConflictsAreRetried: a foreign writer that keeps changing what
// the controller read makes it fail, not give up (section 4).
func TestConflictsAreRetried(t *testing.T) {
	w := start(t)
	workload := w.workload("web", 1)
	w.untilWorkload(workload, availableView.workload)
	obj := w.getWorkload(workload)
	turn := 0
	w.eventually("the controller meets a conflict", func() error {
		turn++
		updateStatus(w, obj, func() {
			c := computeapi.Condition(obj.Status.Conditions, "Available")
			c.Status, c.Reason, c.Message = metav1.ConditionFalse, "Foreign", fmt.Sprint(turn)
		})
		if w.Workload.Writes().Conflicts == 0 {
			return fmt.Errorf("none in %d writes", turn)
		}
		return nil
	})
	w.untilWorkload(workload, availableView.workload)
}
