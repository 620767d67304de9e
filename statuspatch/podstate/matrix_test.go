package podstate_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

// named is a state of a container and how the matrix calls it.
type named struct {
	name  string
	state corev1.ContainerState
	ready bool
}

func waits(reason, message string) named {
	name := "waiting " + reason
	if reason == "" {
		name = "waiting without a reason"
	}
	if message != "" {
		name += ": " + message
	}
	return named{name: name, state: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
}

// ends is a termination some seconds before noon, after a run of that length;
// 0 stands for times that are not known.
func ends(reason string, code int32, run time.Duration, message string) named {
	t := &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code, Message: message}
	name := fmt.Sprint(reason, " ", code)
	if run > 0 {
		t.FinishedAt = metav1.NewTime(noon.Add(-20 * time.Second))
		t.StartedAt = metav1.NewTime(t.FinishedAt.Add(-run))
		name += fmt.Sprint(" after ", run)
	}
	if message != "" {
		name += ": " + message
	}
	return named{name: name, state: corev1.ContainerState{Terminated: t}}
}

var (
	terminations = []named{
		ends("Completed", 0, 12*time.Second, ""),
		ends("Error", 1, 12*time.Second, ""),
		ends("Error", 1, 2*time.Hour, ""),
		ends("Error", 126, 12*time.Second, ""),
		ends("Error", 127, 12*time.Second, ""),
		ends("Error", 137, 12*time.Second, ""),
		ends("Error", 139, 12*time.Second, ""),
		ends("Error", 143, 12*time.Second, ""),
		ends("OOMKilled", 137, 12*time.Second, ""),
		ends("OOMKilled", 143, 12*time.Second, ""),
		ends("ContainerStatusUnknown", 137, 0, ""),
		ends("StartError", 128, 0, "executable file not found"),
		ends("StartError", 128, 0, "the client connection is closing"),
		ends("StartError", 128, 0, ""),
		ends("ContainerCannotRun", 127, 0, ""),
		ends("ContainerCannotRun", 128, 0, ""),
	}
	waitings = []named{
		waits("", ""),
		waits("ContainerCreating", ""),
		waits("PodInitializing", ""),
		waits("CrashLoopBackOff", ""),
		waits("RunContainerError", "executable file not found"),
		waits("RunContainerError", "the client connection is closing"),
		waits("RunContainerError", ""),
		waits("CreateContainerError", "context deadline exceeded"),
		waits("CreateContainerError", ""),
		waits("CreateContainerConfigError", "secret not found"),
		waits("CreateContainerConfigError", "failed to sync secret cache"),
		waits("CreateContainerConfigError", ""),
		waits("PreCreateHookError", ""),
		waits("PostStartHookError", ""),
		waits("ErrImagePull", "not found"),
		waits("ErrImagePull", "i/o timeout"),
		waits("ErrImagePull", "unauthorized"),
		waits("ErrImagePull", ""),
		waits("ImagePullBackOff", `Back-off pulling image "r": ErrImagePull: not found`),
		waits("ImagePullBackOff", `Back-off pulling image "r"`),
		waits("InvalidImageName", ""),
		waits("ErrImageNeverPull", ""),
		waits("ImageInspectError", ""),
		waits("RegistryUnavailable", ""),
		waits("SignatureValidationFailed", ""),
		waits("ErrTomorrow", ""),
		waits("Tomorrow", ""),
	}
	runnings = []named{
		{name: "running, not ready", state: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-15 * time.Second))}}},
		{name: "running, ready", ready: true, state: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-15 * time.Second))}}},
		{name: "running for an hour, ready", ready: true, state: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-time.Hour))}}},
		{name: "no state at all"},
	}
)

const matrixHead = `What a Pod with one container says, by its state and its lastState, without memory: every state against every lastState.
The container has restarted 3 times where it has a lastState, and is new where it has none. States that agree in everything
stand together, and so do the lastStates of a state that make no difference. Written by go test -run TestMatrix -update .
and reviewed line by line; so should a change be.
`

func TestMatrix(t *testing.T) {
	states := append(append([]named{}, runnings...), waitings...)
	for _, s := range terminations {
		s.name = "terminated " + s.name
		states = append(states, s)
	}
	var bodies []string
	names := map[string][]string{}
	for _, s := range states {
		body := matrixBody(t, s)
		if names[body] == nil {
			bodies = append(bodies, body)
		}
		names[body] = append(names[body], s.name)
	}
	var out strings.Builder
	out.WriteString(matrixHead)
	for _, body := range bodies {
		fmt.Fprintf(&out, "\n== %s\n%s", strings.Join(names[body], "\n== "), body)
	}
	const path = "testdata/matrix.txt"
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("the matrix (-want +got); go test -run TestMatrix -update . rewrites it:\n%s", diff)
	}
}

// matrixBody is the verdict on a state under each lastState, equal ones together
// and the most frequent one last.
func matrixBody(t *testing.T, s named) string {
	lasts := append([]named{{name: "none"}}, terminations...)
	var verdicts []string
	rows := map[string][]string{}
	for _, last := range lasts {
		status := corev1.ContainerStatus{Name: "app", Image: "r.example/app:1", Ready: s.ready, State: s.state, LastTerminationState: last.state}
		if last.name != "none" {
			status.RestartCount = 3
		}
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{status}}}
		v := podstate.Classify(pod, podstate.Memory{}, noon, podstate.Options{})
		checkVerdict(t, v)
		text := verdictText(v)
		if rows[text] == nil {
			verdicts = append(verdicts, text)
		}
		rows[text] = append(rows[text], last.name)
	}
	slices.SortStableFunc(verdicts, func(a, b string) int { return len(rows[a])/8 - len(rows[b])/8 })
	var out strings.Builder
	for _, text := range verdicts {
		name := strings.Join(rows[text], "\nlast ")
		switch {
		case len(rows[text]) == len(lasts):
			name = "any"
		case len(rows[text]) >= 8:
			name = "any other"
		}
		fmt.Fprintf(&out, "last %s\n    %s\n", name, strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    "))
	}
	return out.String()
}
