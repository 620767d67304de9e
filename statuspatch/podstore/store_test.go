package podstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

var (
	noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	web  = types.NamespacedName{Namespace: "shop", Name: "web-0"}
)

// told are the names that a store said had changed.
type told map[types.NamespacedName]int

func newStore() (*Store, told) {
	t := told{}
	return New(podstate.Options{}, func() time.Time { return noon }, func(name types.NamespacedName) { t[name]++ }), t
}

// crashing is the Pod of web-0, owned by the Instance i1.
func crashing(tweaks ...func(*corev1.Pod)) *corev1.Pod {
	yes := true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: "p1", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "compute.datumapis.com/v1alpha", Kind: "Instance", Name: "web-0", UID: "i1", Controller: &yes}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "app", RestartCount: 3,
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1}}}}},
	}
	for _, tweak := range tweaks {
		tweak(pod)
	}
	return pod
}

func available(version string, uid types.UID) *Instance {
	return &Instance{NamespacedName: web, UID: uid, ResourceVersion: version, Conditions: ledger.Conditions{Listed: true,
		Available: &ledger.Condition{Index: 1, Condition: metav1.Condition{Type: "Available", Status: "True", Reason: "Available",
			Message: "Instance is available", LastTransitionTime: metav1.NewTime(noon)}}}}
}

func TestAPodBacksTheInstanceThatControlsIt(t *testing.T) {
	tests := map[string]struct {
		tweak func(*corev1.Pod)
		want  bool
	}{
		"its controller is the Instance of its name": {func(*corev1.Pod) {}, true},
		"by another version of the API":              {func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "compute.datumapis.com/v1" }, true},
		"of another API":                             {func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "apps/v1" }, false},
		"of another kind":                            {func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "ReplicaSet" }, false},
		"of another name":                            {func(p *corev1.Pod) { p.OwnerReferences[0].Name = "web-1" }, false},
		"of a predecessor of the same name":          {func(p *corev1.Pod) { p.OwnerReferences[0].UID = "i0" }, false},
		"an owner that does not control it":          {func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }, false},
		"nobody's":                                   {func(p *corev1.Pod) { p.OwnerReferences = nil }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, _ := newStore()
			s.ObservePod(crashing(tc.tweak))
			v, ok := s.Judge(web, "i1")
			if ok != tc.want || ok && v.Standing != podstate.Failing {
				t.Errorf("Judge = %+v, %t, want %t", v, ok, tc.want)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	s, told := newStore()
	if _, ok := s.Decide(web); ok {
		t.Error("a decision on nothing")
	}
	s.ObservePod(crashing())
	if _, ok := s.Decide(web); ok {
		t.Error("a decision without an Instance")
	}
	s.ObserveInstance(available("7", "i1"))
	d, ok := s.Decide(web)
	if !ok || !d.Correction.Changes || d.Correction.Condition.Reason != "InstanceCrashing" || d.Instance.ResourceVersion != "7" {
		t.Errorf("Decide = %+v, %t", d, ok)
	}
	s.ObserveInstance(available("6", "i1"))
	if d, _ := s.Decide(web); d.Instance.ResourceVersion != "7" {
		t.Errorf("an older version took the place of a newer: %s", d.Instance.ResourceVersion)
	}
	deleting := available("8", "i1")
	deleting.Deleting = true
	s.ObserveInstance(deleting)
	if _, ok := s.Decide(web); ok {
		t.Error("a decision on an Instance that is being deleted")
	}
	s.ReplaceInstances([]*Instance{available("9", "i2")})
	if _, ok := s.Decide(web); ok {
		t.Error("a decision on a successor by its predecessor's Pod")
	}
	if told[web] != 4 { // one Pod, three Instances, and not the older one
		t.Errorf("changes were told %d times, want 4", told[web])
	}
	s.ForgetInstance(web, "i1")
	if s.instances[web] == nil {
		t.Error("the deletion of a predecessor took the Instance")
	}
	s.ForgetInstance(web, "i2")
	s.ForgetPod(crashing(func(p *corev1.Pod) { p.UID = "p0" }))
	if len(s.Names()) != 1 {
		t.Error("the deletion of another Pod took the Pod")
	}
	s.ForgetPod(crashing())
	if len(s.pods)+len(s.instances) != 0 {
		t.Errorf("%d Pods and %d Instances are kept, want none", len(s.pods), len(s.instances))
	}
}

// TestMemoryLastsAsLongAsThePod: a new list keeps it, a new Pod does not.
func TestMemoryLastsAsLongAsThePod(t *testing.T) {
	s, _ := newStore()
	first := func(p *corev1.Pod) {
		p.Status.ContainerStatuses[0] = corev1.ContainerStatus{Name: "app", Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon)}}}
	}
	says := func(want string) {
		t.Helper()
		if v, _ := s.Judge(web, "i1"); !strings.Contains(v.Sentence, want) {
			t.Errorf("Judge says %q, want %q in it", v.Sentence, want)
		}
	}
	s.ObservePod(crashing(first))
	s.ReplacePods([]*corev1.Pod{crashing()})
	says("exited and restarted 3 times without")
	s.ReplacePods([]*corev1.Pod{crashing(func(p *corev1.Pod) { p.UID = "p2" })})
	says("has restarted 3 times")
	s.ReplacePods(nil)
	if len(s.pods) != 0 {
		t.Error("a Pod that is not listed is kept")
	}
	s.ObservePod(crashing())
	s.ObservePod(crashing(func(p *corev1.Pod) { p.OwnerReferences = nil }))
	if len(s.pods) != 0 {
		t.Error("a Pod that was released by its Instance is kept")
	}
}

// TestTrimKeepsTheVerdict: what is dropped is not read.
func TestTrimKeepsTheVerdict(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := crashing(func(p *corev1.Pod) {
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
		p.Annotations = map[string]string{"a": strings.Repeat("x", 1000)}
		p.Spec.Containers = []corev1.Container{{Name: "app", Image: "r.example/app:1", Env: make([]corev1.EnvVar, 50),
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": resource.MustParse("1Gi")}}}}
		p.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: &always}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "proxy", RestartCount: 2, ContainerID: "x",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}}}}
	})
	before := fmt.Sprintf("%+v", pod)
	for range 3 {
		trimmed := Trim(pod)
		want := podstate.Classify(pod, podstate.Memory{}, noon, podstate.Options{})
		if diff := cmp.Diff(want, podstate.Classify(trimmed, podstate.Memory{}, noon, podstate.Options{})); diff != "" {
			t.Errorf("the verdict on the trimmed Pod (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(trimmed, Trim(trimmed)); diff != "" {
			t.Errorf("trimming twice (-want +got):\n%s", diff)
		}
		pod.Status.InitContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	}
	if trimmed := Trim(pod); len(trimmed.Annotations)+len(trimmed.ManagedFields)+len(trimmed.Spec.Containers[0].Env) > 0 {
		t.Error("the trimmed Pod keeps what nobody reads")
	}
	pod.Status.InitContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}}
	if after := fmt.Sprintf("%+v", pod); before != after {
		t.Error("Trim changed its argument")
	}
}
