package podstate_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

// A provider goes on to claim that an Instance is available while its
// container crashes.
func Example() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "app", RestartCount: 43,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1,
			StartedAt: metav1.NewTime(now.Add(-30 * time.Second)), FinishedAt: metav1.NewTime(now.Add(-18 * time.Second))}},
	}}}}
	memory := podstate.Observe(podstate.Memory{}, pod, now)
	verdict := podstate.Classify(pod, memory, now, podstate.Options{})

	claim := &metav1.Condition{Type: "Available", Status: "True", Reason: "Available", Message: "Instance is available"}
	corrected := podstate.Correct(verdict, claim, claim, now).Condition
	fmt.Println(corrected.Status, corrected.Reason)
	fmt.Println(corrected.Message)
	// Output:
	// False InstanceCrashing
	// container "app" has restarted 43 times; its last run lasted 12 seconds. It exited with code 1.
}
