package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

var (
	instanceWell   = said{metav1.ConditionTrue, "Available", "Instance is available"}
	deploymentWell = said{metav1.ConditionTrue, "StableInstanceFound", "1/1 instances are ready"}
	workloadWell   = said{metav1.ConditionTrue, "AvailablePlacementFound", "At least one available placement was found"}
)

// The provider goes on to say that all is well. What the Pod says arrives at the
// Workload all the same, and leaves it again.
func TestThePodTellsTheWorkload(t *testing.T) {
	p := startPods(t)
	for _, tc := range []struct {
		name             string
		status           func() corev1.PodStatus
		reason, sentence string
		phrase           string
	}{
		{"crash", func() corev1.PodStatus { return crashLoop(3, ended("Error", 1, "")) },
			"InstanceCrashing", `container "app" has exited and restarted 3 times without staying up for 5 minutes. Its last exit was with code 1.`,
			"is repeatedly exiting and restarting"},
		{"out of memory", func() corev1.PodStatus { return crashLoop(5, ended("OOMKilled", 137, "")) },
			"InstanceCrashing", `container "app" has exited and restarted 2 times without staying up for 5 minutes. It ran out of memory: its limit is 256Mi. Raise the limit, or have it use less.`,
			"is repeatedly exiting and restarting"},
		{"image", func() corev1.PodStatus {
			return app(5, false, waits("ImagePullBackOff", `Back-off pulling image "r.example/app:1": ErrImagePull: manifest unknown`), corev1.ContainerState{})
		},
			"ImageUnavailable", `container "app" could not pull its image "r.example/app:1": it was not found. Correct its name or tag, or push it. The runtime says: "manifest unknown".`,
			"could not pull its image"},
		{"configuration", func() corev1.PodStatus {
			return app(5, false, waits("CreateContainerConfigError", `secret "db" not found`), corev1.ContainerState{})
		},
			"ConfigurationError", `container "app" cannot start: data it refers to does not exist. Create it, or correct the reference. The node says: "secret \"db\" not found".`,
			"cannot start as configured"},
		{"eviction", func() corev1.PodStatus {
			s := app(5, false, ended("ContainerStatusUnknown", 137, ""), corev1.ContainerState{})
			s.Phase, s.Reason, s.Message = corev1.PodFailed, "Evicted", "The node was low on resource: memory."
			return s
		},
			"Disrupted", `its Pod was evicted from its node. The node says: "The node was low on resource: memory".`, "is being moved"},
	} {
		p.in(tc.name, func(*scene) {
			told := said{metav1.ConditionFalse, tc.reason, "1 of 1 instances " + tc.phrase + ": " + tc.sentence}
			if tc.reason == "Disrupted" {
				// A failed Pod never runs again; the provider makes another.
				defer func() {
					require.NoError(t, p.kubelet.Delete(p.ctx, p.pod, client.GracePeriodSeconds(0)))
					p.createPod(up(0))
				}()
			}
			down := p.follow(tc.status(), said{metav1.ConditionFalse, tc.reason, tc.sentence}, told, told)
			t.Logf("%s, after the Pod's status was stored: %s", tc.name, down)
			assert.Less(t, down.workload, 5*time.Second)
			if tc.reason != "Disrupted" {
				t.Logf("%s, recovery: %s", tc.name, p.follow(up(tc.status().ContainerStatuses[0].RestartCount), instanceWell, deploymentWell, workloadWell))
			}
		})
	}
	p.in("a new Pod in place of the evicted one", func(*scene) {
		p.waitFor("the Workload to recover", func() (bool, string) {
			says := p.workloadSays("api")
			return says == workloadWell, says.Message
		})
	})
}

// A failure to start that may be a hiccup is none, until it lasts.
func TestAHiccupIsNoFailure(t *testing.T) {
	p := startPods(t)
	var failed time.Time
	hiccup := func() corev1.PodStatus {
		last := ended("StartError", 128, "rpc: the client connection is closing")
		last.Terminated.StartedAt = metav1.NewTime(time.Unix(0, 0))
		// It fails now, so that the grace is not half over when it is reported.
		last.Terminated.FinishedAt = metav1.Now().Rfc3339Copy()
		failed = last.Terminated.FinishedAt.Time
		return app(0, false, waits("ContainerCreating", ""), last)
	}
	// That neither is written is counted below, once what lasts has been told:
	// Pods are reported in order.
	p.reports(hiccup())
	p.reports(up(1))

	told := `container "app" repeatedly fails to start. The platform keeps trying. The runtime says: "rpc: the client connection is closing".`
	parents := said{metav1.ConditionFalse, "InstanceCrashing", "1 of 1 instances is repeatedly exiting and restarting: " + told}
	h := p.follow(hiccup(), said{metav1.ConditionFalse, "InstanceCrashing", told}, parents, parents)
	t.Logf("it lasts: %s", h)
	assert.GreaterOrEqual(t, h.began.Add(h.instance).Sub(failed), 3*time.Second, "the grace is 3 s from the failure")
	t.Logf("recovery: %s", p.follow(up(1), instanceWell, deploymentWell, workloadWell))
	metrics, err := p.Sidecars[0].Metrics(p.ctx)
	require.NoError(t, err)
	assert.Equal(t, 1.0, valueOf(t, metrics, `causeway_status_instance_writes_total{standing="failing"}`), "of what lasted alone")
}

// What a provider claims is corrected in its own write: the write stores
// nothing, wakes nobody, and takes nothing else of the object with it.
func TestAProvidersClaimChangesNothing(t *testing.T) {
	p := startPods(t)
	told := `container "app" has exited and restarted 3 times without staying up for 5 minutes. Its last exit was with code 1.`
	parents := said{metav1.ConditionFalse, "InstanceCrashing", "1 of 1 instances is repeatedly exiting and restarting: " + told}
	p.follow(crashLoop(3, ended("Error", 1, "")), said{metav1.ConditionFalse, "InstanceCrashing", told}, parents, parents)
	p.Platform.Provider.Pause()
	p.Platform.Instance.Pause()

	writer, err := p.Client(environment.Writer)
	require.NoError(t, err)
	claim := func(manager, programmed string) {
		i := get(p.scene, p.key.Name, &computeapi.Instance{})
		for n := range i.Status.Conditions {
			switch c := &i.Status.Conditions[n]; c.Type {
			case computeapi.AvailableCondition:
				c.Status, c.Reason, c.Message = metav1.ConditionTrue, "Available", "Instance is available"
				c.LastTransitionTime = metav1.Now().Rfc3339Copy()
			case computeapi.ProgrammedCondition:
				c.Message = programmed
			}
		}
		patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": i.Status.Conditions}})
		require.NoError(t, err)
		require.NoError(t, writer.Status().Patch(p.ctx, i, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(manager)))
	}
	claim("kata", "first") // may move the list to another owner once
	before := get(p.scene, p.key.Name, &computeapi.Instance{}).ResourceVersion
	for n := range 200 {
		claim([]string{"kata", "unikraft"}[n%2], "first")
	}
	assert.Equal(t, before, get(p.scene, p.key.Name, &computeapi.Instance{}).ResourceVersion, "200 writes of two field managers")

	claim("kata", "second")
	i := get(p.scene, p.key.Name, &computeapi.Instance{})
	assert.Equal(t, "second", saysOf(i.Status.Conditions, computeapi.ProgrammedCondition).Message, "what else is written is stored")
	assert.Equal(t, said{metav1.ConditionFalse, "InstanceCrashing", told}, saysOf(i.Status.Conditions, computeapi.AvailableCondition))
	assert.Equal(t, parents, p.workloadSays("api"))

	// A restart is no write, whatever time the application says it is.
	p.reports(crashLoop(5, ended("Error", 1, "at 12:00:01 out of cheese")))
	p.waitFor("the fifth restart to be told", func() (bool, string) {
		says := p.available()
		return says.Message == `container "app" has exited and restarted 5 times without staying up for 5 minutes. Its last exit was with code 1. `+
			`Its last words are: "at 12:00:01 out of cheese".`, says.Message
	})
	for n := int32(6); n < 10; n++ {
		p.reports(crashLoop(n-1, ended("Error", 1, fmt.Sprintf("at 12:00:0%d out of cheese", n))))
		p.reports(crashLoop(n, ended("Error", 1, fmt.Sprintf("at 12:00:0%d out of cheese", n))))
	}
	p.reports(crashLoop(10, ended("Error", 1, "at 12:00:10 out of cheese")))
	p.waitFor("the tenth restart to be told", func() (bool, string) {
		says := p.available()
		return strings.Contains(says.Message, "restarted 10 times"), says.Message
	})
	metrics, err := p.Sidecars[0].Metrics(p.ctx)
	require.NoError(t, err)
	assert.Equal(t, 3.0, valueOf(t, metrics, `causeway_status_instance_writes_total{standing="failing"}`), "the third restart, the fifth and the tenth")
}

// A Pod that is not the Instance's own says nothing about it: of another UID,
// without an owner, or of another name.
func TestAStrangersPodSaysNothing(t *testing.T) {
	p := startPods(t)
	require.NoError(t, p.kubelet.Delete(p.ctx, p.pod, client.GracePeriodSeconds(0)))
	for name, tweak := range map[string]func(*corev1.Pod){
		"of an Instance of the same name that is gone": func(pod *corev1.Pod) { pod.OwnerReferences[0].UID = "00000000-0000-0000-0000-000000000000" },
		"without an owner": func(pod *corev1.Pod) { pod.OwnerReferences = nil },
		"of another name":  func(pod *corev1.Pod) { pod.Name += "-x" },
	} {
		pod := p.pod.DeepCopy()
		pod.ObjectMeta = metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, OwnerReferences: pod.OwnerReferences}
		tweak(pod)
		require.NoError(t, p.kubelet.Create(p.ctx, pod), name)
		pod.Status = crashLoop(3, ended("Error", 1, ""))
		require.NoError(t, p.kubelet.Status().Update(p.ctx, pod), name)
		require.NoError(t, p.kubelet.Delete(p.ctx, pod, client.GracePeriodSeconds(0)), name)
	}
	// Its own Pod comes last, and Pods are watched in order: when it is told, the
	// strangers have been seen, and the one write is its own.
	own := p.pod.DeepCopy()
	own.ObjectMeta = metav1.ObjectMeta{Namespace: own.Namespace, Name: own.Name, OwnerReferences: own.OwnerReferences}
	require.NoError(t, p.kubelet.Create(p.ctx, own))
	own.Status = crashLoop(3, ended("Error", 1, ""))
	require.NoError(t, p.kubelet.Status().Update(p.ctx, own))
	p.waitFor("its own Pod to be told", func() (bool, string) {
		says := p.available()
		return says.Reason == "InstanceCrashing", says.Message
	})
	metrics, err := p.Sidecars[0].Metrics(p.ctx)
	require.NoError(t, err)
	assert.Equal(t, 1.0, valueOf(t, metrics, `causeway_status_instance_writes_total{standing="failing"}`), "its own Pod's")
}
