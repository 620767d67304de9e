package podstate

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
)

// container is a container of a Pod by its spec and its status. A Pod that is
// read through a cache may lack the one, a young Pod the other.
type container struct {
	Container
	spec   *corev1.Container
	status *corev1.ContainerStatus
}

// containersOf are the containers that have a status: init containers and
// sidecars first, each in the order of their statuses, which the kubelet keeps
// in the order of the spec.
func containersOf(pod *corev1.Pod) iter.Seq[container] {
	return func(yield func(container) bool) {
		for i := range pod.Status.InitContainerStatuses {
			s := &pod.Status.InitContainerStatuses[i]
			spec := specOf(pod.Spec.InitContainers, s.Name)
			kind := Init
			if spec != nil && spec.RestartPolicy != nil && *spec.RestartPolicy == corev1.ContainerRestartPolicyAlways {
				kind = Sidecar
			}
			if !yield(container{Container{kind, s.Name}, spec, s}) {
				return
			}
		}
		for i := range pod.Status.ContainerStatuses {
			s := &pod.Status.ContainerStatuses[i]
			if !yield(container{Container{App, s.Name}, specOf(pod.Spec.Containers, s.Name), s}) {
				return
			}
		}
	}
}

func specOf(list []corev1.Container, name string) *corev1.Container {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// started tells a sidecar that no longer holds up the containers after it.
func started(s *corev1.ContainerStatus) bool { return s.Started != nil && *s.Started }

// allReady tells whether every container of the Pod is running and ready, and
// the Pod does not say otherwise (by a readiness gate).
func allReady(pod *corev1.Pod) bool {
	if len(pod.Status.ContainerStatuses) == 0 || len(pod.Status.ContainerStatuses) < len(pod.Spec.Containers) ||
		conditionIs(pod, corev1.PodReady, corev1.ConditionFalse) {
		return false
	}
	for c := range containersOf(pod) {
		if c.Kind != Init && !isUp(c.status) {
			return false
		}
		if c.Kind == Init && (c.status.State.Terminated == nil || c.status.State.Terminated.ExitCode != 0) {
			return false
		}
	}
	return true
}

// isUp tells a container that is running and ready: healthy, whatever else its
// status says.
func isUp(s *corev1.ContainerStatus) bool { return s.Ready && s.State.Running != nil }

func condition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == t {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func conditionIs(pod *corev1.Pod, t corev1.PodConditionType, status corev1.ConditionStatus) bool {
	c := condition(pod, t)
	return c != nil && c.Status == status
}

// restarts tells whether the kubelet starts the container again after an end
// with the code.
func (c container) restarts(pod *corev1.Pod, code int32) bool {
	if pod.Status.Phase == corev1.PodFailed {
		return false
	}
	policy := string(pod.Spec.RestartPolicy)
	if c.spec != nil && c.spec.RestartPolicy != nil {
		policy = string(*c.spec.RestartPolicy)
	}
	switch {
	case c.Kind == Init && code == 0:
		return false
	case policy == string(corev1.RestartPolicyNever):
		return false
	case policy == string(corev1.RestartPolicyOnFailure):
		return code != 0
	default:
		return true // also where a cache dropped the policy: it is Always by default
	}
}

// memoryLimit is the container's own limit, else the Pod's, else empty. of
// tells whose.
func (c container) memoryLimit(pod *corev1.Pod) (limit string, ofPod bool) {
	if c.spec != nil {
		if q, ok := c.spec.Resources.Limits[corev1.ResourceMemory]; ok {
			return q.String(), false
		}
	}
	if r := c.status.Resources; r != nil {
		if q, ok := r.Limits[corev1.ResourceMemory]; ok {
			return q.String(), false
		}
	}
	if r := pod.Spec.Resources; r != nil {
		if q, ok := r.Limits[corev1.ResourceMemory]; ok {
			return q.String(), true
		}
	}
	return "", false
}
