package podstate

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// wholePod is the verdict on what the Pod says as a whole: who ended it, or
// that it found no node. It is asked only while not all containers are ready:
// a Pod that is about to be moved and still serves is not down.
func (j *judge) wholePod() Verdict {
	s := &j.pod.Status
	words := s.Message
	target := condition(j.pod, corev1.DisruptionTarget)
	if target != nil && target.Status != corev1.ConditionTrue {
		target = nil
	}
	if target != nil && words == "" {
		words = target.Message
	}
	switch {
	case s.Reason == "Evicted":
		if overLimit(words) {
			return evictedOverLimit.quoting(Container{}, nodeSays, words)
		}
		return evicted.quoting(Container{}, nodeSays, words)
	case s.Reason == "Preempting", s.Reason == "Preempted", target != nil && target.Reason == corev1.PodReasonPreemptionByScheduler:
		return preempted.quoting(Container{}, platformSays, words)
	case s.Reason == "NodeLost", s.Reason == "NodeShutdown", s.Reason == "Shutdown", s.Reason == "Terminated":
		return nodeLost.quoting(Container{}, nodeSays, words)
	case target != nil:
		return disrupted.quoting(Container{}, platformSays, words)
	case s.Phase == corev1.PodFailed && s.Reason == "DeadlineExceeded":
		return j.deadlineExceeded()
	case s.Phase == corev1.PodFailed && refusedByNode(s.Reason):
		return nodeRefused.quoting(Container{}, nodeSays, words)
	case j.pod.DeletionTimestamp == nil:
		return j.unschedulable()
	}
	return Verdict{}
}

// overLimit tells an eviction for the Pod's own doing from one for the node's
// want, by the kubelet's three messages for the former.
func overLimit(message string) bool {
	return strings.Contains(message, "exceeds the total limit") || strings.Contains(message, "exceeds the limit") ||
		strings.Contains(message, "exceeded its local ephemeral storage limit")
}

// refusedByNode tells the reasons with which a kubelet fails a Pod that it does
// not admit.
func refusedByNode(reason string) bool {
	switch reason {
	case "UnexpectedAdmissionError", "NodeAffinity", "NodePorts", "NodeName", "NodeUnschedulable", "TaintToleration",
		"NodeResourcesFit", "PodOSSelectorNodeLabelDoesNotMatch", "PodOSNotSupported", "InvalidNodeInfo", "UnknownReason",
		"UnexpectedPredicateFailureType", "InitContainerRestartPolicyForbidden", "SupplementalGroupsPolicyNotSupported",
		"TopologyAffinityError":
		return true
	}
	return strings.HasPrefix(reason, "OutOf") // OutOfcpu, OutOfmemory, OutOfpods, OutOf<any other resource>
}

func (j *judge) deadlineExceeded() Verdict {
	text := deadlineExceeded.says
	if d := j.pod.Spec.ActiveDeadlineSeconds; d != nil && *d > 0 && *d < int64(1000*24*time.Hour/time.Second) {
		text += ", " + lasting(time.Duration(*d)*time.Second)
	}
	return deadlineExceeded.verdict(Container{}, sentence(Container{}, text+". Raise or remove the deadline.", "", ""))
}

// unschedulable is a Pod that has looked for a node for longer than the grace.
// While it may still find one, the verdict only says when to look again.
func (j *judge) unschedulable() Verdict {
	c := condition(j.pod, corev1.PodScheduled)
	if c == nil || c.Status != corev1.ConditionFalse || c.Reason != corev1.PodReasonUnschedulable {
		return Verdict{}
	}
	until := c.LastTransitionTime.Add(j.options.scheduleGrace())
	if !c.LastTransitionTime.IsZero() && j.now.Before(until) {
		v := starting.verdict(Container{}, "")
		v.Until = until
		return v
	}
	return unschedulable.quoting(Container{}, schedulerSays, c.Message)
}
