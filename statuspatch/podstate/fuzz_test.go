package podstate_test

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

// seeds are the Pods of all cases.
func seeds(f *testing.F) (pods []corev1.Pod) {
	f.Helper()
	for _, file := range caseFiles(f) {
		for _, tc := range readCases(f, file) {
			pods = append(pods, tc.Pod)
		}
	}
	return pods
}

func marshal(f *testing.F, v any) []byte {
	f.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		f.Fatal(err)
	}
	return raw
}

// FuzzPodStatus: any spec and any two statuses that decode give a verdict that
// can be stored, read and taken back, and never a panic; and the decision on it
// is one that stands.
func FuzzPodStatus(f *testing.F) {
	pods := seeds(f)
	for i, pod := range pods {
		f.Add(marshal(f, pod.Spec), marshal(f, pods[(i+1)%len(pods)].Status), marshal(f, pod.Status), int64(i), pod.DeletionTimestamp != nil)
	}
	f.Fuzz(func(t *testing.T, spec, earlier, status []byte, seconds int64, deleting bool) {
		var before, pod corev1.Pod
		if json.Unmarshal(spec, &pod.Spec) != nil || json.Unmarshal(earlier, &before.Status) != nil || json.Unmarshal(status, &pod.Status) != nil {
			return
		}
		before.Spec = pod.Spec
		if deleting {
			pod.DeletionTimestamp = &metav1.Time{Time: noon}
		}
		memory := podstate.Observe(podstate.Memory{}, &before, noon.Add(-time.Minute))
		now := noon.Add(time.Duration(seconds%1000) * time.Second)
		memory = podstate.Observe(memory, &pod, now)
		v := podstate.Classify(&pod, memory, now, podstate.Options{})
		checkVerdict(t, v)
		checkCorrection(t, v)
	})
}

// FuzzContainer reaches the words that the first fuzzer's JSON rarely forms.
func FuzzContainer(f *testing.F) {
	for _, pod := range seeds(f) {
		for _, s := range pod.Status.ContainerStatuses {
			waiting, state, last := "", "", ""
			if s.State.Waiting != nil {
				waiting, state = s.State.Waiting.Reason, s.State.Waiting.Message
			}
			var code int32
			ended := ""
			if t := s.LastTerminationState.Terminated; t != nil {
				ended, last, code = t.Reason, t.Message, t.ExitCode
			}
			f.Add(s.Name, s.Image, waiting, state, ended, last, code, s.RestartCount, int64(12), uint8(0))
		}
	}
	f.Fuzz(func(t *testing.T, name, image, waiting, message, ended, words string, code, restarts int32, run int64, shape uint8) {
		end := &corev1.ContainerStateTerminated{Reason: ended, Message: words, ExitCode: code, Signal: int32(shape),
			StartedAt: metav1.NewTime(noon.Add(-time.Duration(run % 1e17))), FinishedAt: metav1.NewTime(noon)}
		s := corev1.ContainerStatus{Name: name, Image: image, RestartCount: restarts, Ready: shape&1 != 0}
		switch shape >> 1 & 3 {
		case 0:
			s.State.Waiting = &corev1.ContainerStateWaiting{Reason: waiting, Message: message}
			s.LastTerminationState.Terminated = end
		case 1:
			s.State.Terminated = end
		case 2:
			s.State.Running = &corev1.ContainerStateRunning{StartedAt: end.StartedAt}
			s.LastTerminationState.Terminated = end
		}
		pod := &corev1.Pod{Status: corev1.PodStatus{Reason: waiting, Message: message}}
		if shape&8 != 0 {
			pod.Status.Reason = ""
		}
		if shape&16 != 0 {
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{s}
		} else {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{s}
		}
		memory := podstate.Observe(podstate.Memory{}, pod, noon)
		v := podstate.Classify(pod, memory, noon.Add(time.Duration(shape)*time.Second), podstate.Options{})
		checkVerdict(t, v)
		checkCorrection(t, v)
	})
}

// checkCorrection fails unless what a verdict makes of an Instance that claims
// to be available stands: nothing more is to be written, and the claim, made
// again, changes nothing.
func checkCorrection(t *testing.T, v podstate.Verdict) {
	t.Helper()
	claim := available("True Available Instance is available")
	c := podstate.Correct(v, claim, claim, noon)
	if c.Governs != (v.Standing == podstate.Failing) {
		t.Fatalf("%+v governs: %t", v, c.Governs)
	}
	if !c.Governs {
		return
	}
	if again := podstate.Correct(v, &c.Condition, nil, noon.Add(time.Hour)); again.Changes {
		t.Fatalf("%+v is written again as %+v", c.Condition, again.Condition)
	}
	if again := podstate.Correct(v, &c.Condition, claim, noon.Add(time.Hour)); again.Condition != c.Condition {
		t.Fatalf("%+v becomes %+v", c.Condition, again.Condition)
	}
}
