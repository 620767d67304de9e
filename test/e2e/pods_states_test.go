package e2e

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func quantity(s string) resource.Quantity { return resource.MustParse(s) }

func ago(d time.Duration) metav1.Time { return metav1.NewTime(time.Now().Add(-d)) }

// app is the status of a Pod whose one container has these states.
func app(restarts int32, ready bool, state, last corev1.ContainerState) corev1.PodStatus {
	readiness := corev1.ConditionFalse
	if ready {
		readiness = corev1.ConditionTrue
	}
	return corev1.PodStatus{Phase: corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: readiness}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "app", Image: "r.example/app:1", RestartCount: restarts, Ready: ready,
			State: state, LastTerminationState: last}}}
}

// up is a container that has been running for an hour.
func up(restarts int32) corev1.PodStatus {
	return app(restarts, true, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(time.Hour)}}, corev1.ContainerState{})
}

func waits(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// ended is a run of 12 seconds that ended a second ago.
func ended(reason string, code int32, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code, Message: message,
		StartedAt: ago(13 * time.Second), FinishedAt: ago(time.Second)}}
}

func crashLoop(restarts int32, last corev1.ContainerState) corev1.PodStatus {
	return app(restarts, false, waits("CrashLoopBackOff", "back-off 40s restarting failed container=app"), last)
}
