package podstore

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

// group is the API of the owners that count.
const group = "compute.datumapis.com"

// ownerOf is the UID of the Instance that the Pod backs, empty where it backs
// none.
func ownerOf(pod *corev1.Pod) types.UID {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil || owner.Kind != "Instance" || owner.Name != pod.Name {
		return ""
	}
	if g, _, versioned := strings.Cut(owner.APIVersion, "/"); !versioned || g != group {
		return ""
	}
	return owner.UID
}

func nameOf(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// ObservePod takes in a version of a Pod.
func (s *Store) ObservePod(pod *corev1.Pod) {
	s.mu.Lock()
	s.observePod(pod)
	s.mu.Unlock()
	s.changed(nameOf(pod))
}

func (s *Store) observePod(pod *corev1.Pod) {
	name, owner := nameOf(pod), ownerOf(pod)
	if owner == "" {
		delete(s.pods, name)
		return
	}
	e := s.pods[name]
	if e == nil {
		e = &entry{}
		s.pods[name] = e
	}
	e.pod, e.owner = Trim(pod), owner
	e.memory = podstate.Observe(e.memory, e.pod, s.now())
}

// ForgetPod takes in a deletion. What the Pod said of its Instance is the
// provider's to replace.
func (s *Store) ForgetPod(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.pods[nameOf(pod)]; e != nil && e.pod.UID == pod.UID {
		delete(s.pods, nameOf(pod))
	}
}

// ReplacePods takes in a whole list. Memories of Pods that are still there stay.
func (s *Store) ReplacePods(list []*corev1.Pod) {
	s.mu.Lock()
	listed := make(map[types.NamespacedName]bool, len(list))
	for _, pod := range list {
		s.observePod(pod)
		listed[nameOf(pod)] = true
	}
	for name := range s.pods {
		if !listed[name] {
			delete(s.pods, name)
		}
	}
	s.mu.Unlock()
	for name := range listed {
		s.changed(name)
	}
}

// Trim is a Pod without what nobody reads here: it is some twentieth of the
// whole. The argument stays as it is.
func Trim(pod *corev1.Pod) *corev1.Pod {
	owner := metav1.GetControllerOf(pod)
	out := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
			ResourceVersion: pod.ResourceVersion, DeletionTimestamp: pod.DeletionTimestamp},
		Spec: corev1.PodSpec{
			RestartPolicy:         pod.Spec.RestartPolicy,
			ActiveDeadlineSeconds: pod.Spec.ActiveDeadlineSeconds,
			Resources:             pod.Spec.Resources,
			InitContainers:        trimContainers(pod.Spec.InitContainers),
			Containers:            trimContainers(pod.Spec.Containers),
		},
		Status: corev1.PodStatus{
			Phase:                 pod.Status.Phase,
			Reason:                pod.Status.Reason,
			Message:               pod.Status.Message,
			InitContainerStatuses: trimStatuses(pod.Status.InitContainerStatuses),
			ContainerStatuses:     trimStatuses(pod.Status.ContainerStatuses),
		},
	}
	if owner != nil {
		out.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	for _, c := range pod.Status.Conditions {
		switch c.Type {
		case corev1.PodReady, corev1.PodScheduled, corev1.DisruptionTarget:
			out.Status.Conditions = append(out.Status.Conditions, c)
		}
	}
	return out
}

func trimContainers(list []corev1.Container) []corev1.Container {
	out := make([]corev1.Container, len(list))
	for i, c := range list {
		out[i] = corev1.Container{Name: c.Name, Image: c.Image, RestartPolicy: c.RestartPolicy,
			Resources: corev1.ResourceRequirements{Limits: c.Resources.Limits}}
		if s := c.SecurityContext; s != nil && s.Capabilities != nil {
			out[i].SecurityContext = &corev1.SecurityContext{Capabilities: s.Capabilities, Privileged: s.Privileged}
		}
	}
	return out
}

func trimStatuses(list []corev1.ContainerStatus) []corev1.ContainerStatus {
	out := make([]corev1.ContainerStatus, len(list))
	for i, s := range list {
		out[i] = corev1.ContainerStatus{Name: s.Name, Image: s.Image, State: s.State, LastTerminationState: s.LastTerminationState,
			Ready: s.Ready, RestartCount: s.RestartCount, Started: s.Started, Resources: s.Resources}
	}
	return out
}
