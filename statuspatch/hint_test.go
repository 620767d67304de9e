package statuspatch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/podstore"
)

const (
	crashSentence = "1 of 1 instances is repeatedly exiting and restarting: it exits."
	hintSentence  = ` Container "app" runs without capabilities that runtime class "web" currently grants by default: CHOWN, SETUID. ` +
		"If the image needs one, add it to the container's capabilities. This is not evidence that capabilities caused the crash."
)

// hardened is the Pod of the Instance i0, without any capability, in its first
// run or after it.
func hardened(ended bool) *corev1.Pod {
	yes := true
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(time.Now().Add(-time.Second))}}
	if ended {
		state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1,
			StartedAt: metav1.NewTime(time.Now().Add(-time.Second)), FinishedAt: metav1.Now()}}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "i0", UID: "p0", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "compute.datumapis.com/v1alpha", Kind: "Instance", Name: "i0", UID: "uid-i0", Controller: &yes}}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", SecurityContext: &corev1.SecurityContext{
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "app", State: state}}},
	}
}

// sandboxed is the Instance with a spec.
func sandboxed(i map[string]any) map[string]any {
	i["spec"] = map[string]any{"runtime": map[string]any{"class": "web",
		"sandbox": map[string]any{"containers": []any{map[string]any{"name": "app", "image": "r.example/app:1"}}}}}
	return i
}

// hintWorld is a world where Pods are observed and hints given; what grants
// answers may be changed.
type hintWorld struct {
	*world
	pods   *pods
	grants []string
}

var i0 = types.NamespacedName{Namespace: "shop", Name: "i0"}

func newHintWorld(t *testing.T) *hintWorld {
	w := &hintWorld{world: newWorld(t), grants: []string{"CHOWN", "SETUID"}}
	w.pods = newTestPods(t, w.writer.api)
	w.pods.ledger = w.ledger
	w.pods.grants = func(class string) (string, []string) { return class, w.grants }
	instance := sandboxed(instanceJSON(0, 1, waitingJSON()))
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), workloadJSON(provisioningJSON()), instance)
	w.pods.store.ObserveInstance(observedInstance(decoded[instanceObject](t, instance)))
	w.pods.store.ObservePod(hardened(false))
	w.pods.store.ObservePod(hardened(true))
	return w
}

func (w *hintWorld) writeWorkload(t *testing.T) {
	t.Helper()
	require.NoError(t, w.writer.join(ledger.Parent{Kind: ledger.KindWorkload, Namespace: "shop", Name: "api", UID: "uid-w"}, causeRepair).wait(t.Context()))
}

// One pure function on all three ways: what the request writes, the overlay
// leaves and the loop finds right.
func TestTheHintIsTheSameOnEveryWay(t *testing.T) {
	w := newHintWorld(t)
	w.pods.hint(i0)

	old, incoming := w.stub.get(resourceInstances, "i0"), sandboxed(instanceJSON(0, 1, crashingJSON()))
	incoming["metadata"] = old["metadata"]
	req := reviewOf(t, old, incoming)
	_, got := w.instances.review(t.Context(), req)
	assert.Equal(t, outcomeApplied, got)
	assert.Equal(t, "False InstanceCrashing: "+crashSentence+hintSentence, w.available(t, resourceWorkloads, "api"), "in the request")
	assert.Equal(t, "False InstanceCrashing: "+crashSentence, w.available(t, resourceDeployments, "d1"), "a deployment has none")

	writes := w.stub.stored()
	w.writeWorkload(t)
	assert.Equal(t, writes, w.stub.stored(), "the loop finds nothing to do")

	stored := w.stub.get(resourceWorkloads, "api")
	lossy := workloadJSON(dated(conditionJSON("Available", "False", "NoAvailablePlacements", "x"), later))
	lossy["metadata"].(map[string]any)["resourceVersion"] = stored["metadata"].(map[string]any)["resourceVersion"]
	overlaid := reviewOf(t, managed(stored, "old"), managed(lossy, "incoming"))
	response, got := w.overlay.workload(t.Context(), overlaid)
	assert.Equal(t, outcomeApplied, got)
	if diff := cmp.Diff(decodedTree(t, stored), applied(t, overlaid, response)); diff != "" {
		t.Errorf("a write over it is a true no-op (-want +got):\n%s", diff)
	}
}

func TestAHintGoesWhenItNoLongerHolds(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*hintWorld)
		want   string
	}{
		"the class grants less":    {func(w *hintWorld) { w.grants = []string{"KILL"} }, ` Container "app" runs without capabilities that runtime class "web" currently grants by default: KILL. If the image needs one, add it to the container's capabilities. This is not evidence that capabilities caused the crash.`},
		"the class cannot be read": {func(w *hintWorld) { w.grants = nil }, ""},
		"the Pod is gone":          {func(w *hintWorld) { w.pods.store.ForgetPod(hardened(true)) }, ""},
		"a new Pod, which may be well": {func(w *hintWorld) {
			p := hardened(false)
			p.UID = "p1"
			w.pods.store.ObservePod(p)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHintWorld(t)
			w.put(t, instanceJSON(0, 1, crashingJSON()))
			w.pods.hint(i0)
			w.writeWorkload(t)
			require.Equal(t, "False InstanceCrashing: "+crashSentence+hintSentence, w.available(t, resourceWorkloads, "api"))
			tc.change(w)
			w.pods.hint(i0)
			w.writeWorkload(t)
			assert.Equal(t, "False InstanceCrashing: "+crashSentence+tc.want, w.available(t, resourceWorkloads, "api"))
		})
	}
}

// A process without the flag knows no lacks, and takes the hint for its own.
func TestAHintGoesWithTheFlag(t *testing.T) {
	w := newHintWorld(t)
	w.pods.grants = nil
	w.put(t, workloadJSON(conditionJSON("Available", "False", "InstanceCrashing", crashSentence+hintSentence)), instanceJSON(0, 1, crashingJSON()))
	w.pods.hint(i0)
	w.writeWorkload(t)
	assert.Equal(t, "False InstanceCrashing: "+crashSentence, w.available(t, resourceWorkloads, "api"))
}

// Whoever takes over must not take the hint away for a moment.
func TestAStandbyKnowsTheHints(t *testing.T) {
	w := newHintWorld(t)
	w.put(t, instanceJSON(0, 1, crashingJSON()))
	w.pods.tenure = newTenure(time.Now) // never held
	w.pods.store.ObservePod(hardened(true))
	require.True(t, w.pods.next(t.Context()))
	w.writeWorkload(t)
	assert.Equal(t, "False InstanceCrashing: "+crashSentence+hintSentence, w.available(t, resourceWorkloads, "api"))

	w.pods.grants = nil
	for w.pods.queue.Len() > 0 {
		w.pods.next(t.Context())
	}
	w.pods.store.ObservePod(hardened(true))
	assert.Zero(t, w.pods.queue.Len(), "without hints a standby looks at nothing")
}

// When time alone may change a hint, it is looked at again: here a container
// that runs and is not ready may stay up.
func TestAHintIsLookedAtAgain(t *testing.T) {
	w := newHintWorld(t)
	w.pods.tenure = newTenure(time.Now) // never held, so that nothing else is looked at again
	pod := hardened(false)
	pod.Status.ContainerStatuses[0].RestartCount = 1
	pod.Status.ContainerStatuses[0].LastTerminationState = hardened(true).Status.ContainerStatuses[0].State
	w.pods.store.ObservePod(pod)
	for w.pods.queue.Len() > 0 {
		require.True(t, w.pods.next(t.Context()))
	}
	// The clock of the process reaches that moment, on which nothing is told.
	later := time.Now().Add(5 * time.Minute)
	w.pods.now = func() time.Time { return later }
	w.pods.hint(i0)
	require.True(t, w.pods.next(t.Context()), "without a word from anybody")
}

func TestASpecOfAnotherFormCostsTheHintAlone(t *testing.T) {
	for name, spec := range map[string]any{
		"containers by name": map[string]any{"runtime": map[string]any{"class": "web", "sandbox": map[string]any{"containers": map[string]any{"app": 1}}}},
		"a class by number":  map[string]any{"runtime": map[string]any{"class": 7}},
		"null":               nil,
		"a list":             []any{1},
	} {
		t.Run(name, func(t *testing.T) {
			i := instanceJSON(0, 1, crashingJSON())
			i["spec"] = spec
			o := decoded[instanceObject](t, i)
			assert.Equal(t, "InstanceCrashing", readInstance(o).Contribution.Reason)
			assert.Equal(t, podstore.Instance{}.Containers, observedInstance(o).Containers)
			assert.Empty(t, observedInstance(o).Class)
		})
	}
	observed := observedInstance(decoded[instanceObject](t, sandboxed(instanceJSON(0, 1, crashingJSON()))))
	assert.Equal(t, []string{"app"}, observed.Containers)
	assert.Equal(t, "web", observed.Class)
}
