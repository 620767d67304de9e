package podstate_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

// crashPod is a Pod in CrashLoopBackOff whose last run ended at the moment.
func crashPod(uid string, restarts int32, ended time.Time, run time.Duration) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid)}, Status: corev1.PodStatus{Phase: corev1.PodRunning,
		ContainerStatuses: []corev1.ContainerStatus{{Name: "app", RestartCount: restarts,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1,
				StartedAt: metav1.NewTime(ended.Add(-run)), FinishedAt: metav1.NewTime(ended)}}}}}}
}

func runningPod(uid string, restarts int32, since time.Time) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid)}, Status: corev1.PodStatus{Phase: corev1.PodRunning,
		ContainerStatuses: []corev1.ContainerStatus{{Name: "app", RestartCount: restarts, Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(since)}}}}}}
}

func TestMemory(t *testing.T) {
	at := func(d time.Duration) time.Time { return noon.Add(d) }
	const (
		since = `container "app" has exited and restarted %d times without staying up for 5 minutes. Its last exit was with code 1.`
		total = `container "app" has restarted %d times; its last run lasted 12 seconds. It exited with code 1.`
	)
	type look struct {
		at  time.Time
		pod *corev1.Pod
	}
	short := 12 * time.Second
	tests := map[string]struct {
		looks []look
		want  string
	}{
		"a Pod that is first seen late is not known": {
			[]look{{at(0), crashPod("u1", 43, at(0), short)}}, fmt.Sprintf(total, 43)},
		"every restart of a Pod seen from its first run counts": {
			[]look{{at(0), runningPod("u1", 0, at(0))}, {at(time.Minute), crashPod("u1", 3, at(time.Minute), short)}}, fmt.Sprintf(since, 3)},
		"a run that stayed up and was seen running": {
			[]look{{at(0), runningPod("u1", 40, at(-time.Hour))}, {at(time.Minute), crashPod("u1", 43, at(time.Minute), short)}}, fmt.Sprintf(since, 3)},
		"a run that stayed up and was seen when it had ended": {
			[]look{{at(0), crashPod("u1", 40, at(0), time.Hour)}, {at(time.Minute), crashPod("u1", 42, at(time.Minute), short)}}, fmt.Sprintf(since, 2)},
		"a run that stayed up, in the lastState of a later one": {
			[]look{{at(0), func() *corev1.Pod {
				p := runningPod("u1", 41, at(-time.Second))
				p.Status.ContainerStatuses[0].LastTerminationState = crashPod("u1", 40, at(-2*time.Second), time.Hour).Status.ContainerStatuses[0].LastTerminationState
				return p
			}()}, {at(time.Minute), crashPod("u1", 43, at(time.Minute), short)}}, fmt.Sprintf(since, 3)},
		"restarts that were missed for long may hide one": {
			[]look{{at(0), runningPod("u1", 0, at(0))}, {at(20 * time.Minute), crashPod("u1", 3, at(20*time.Minute), short)}}, fmt.Sprintf(total, 3)},
		"a single restart hides none, whenever it is seen": {
			[]look{{at(0), crashPod("u1", 2, at(0), time.Hour)}, {at(0), crashPod("u1", 4, at(0), short)},
				{at(20 * time.Minute), crashPod("u1", 5, at(20*time.Minute), short)}}, fmt.Sprintf(since, 3)},
		"another Pod of the same name is another Pod": {
			[]look{{at(0), runningPod("u1", 0, at(0))}, {at(time.Minute), crashPod("u2", 3, at(time.Minute), short)}}, fmt.Sprintf(total, 3)},
		"a count that falls is a new beginning": {
			[]look{{at(0), runningPod("u1", 0, at(0))}, {at(0), crashPod("u1", 9, at(0), short)}, {at(time.Minute), crashPod("u1", 3, at(time.Minute), short)}},
			fmt.Sprintf(total, 3)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var memory podstate.Memory
			for _, l := range tc.looks {
				memory = podstate.Observe(memory, l.pod, l.at)
			}
			last := tc.looks[len(tc.looks)-1]
			if v := podstate.Classify(last.pod, memory, last.at, podstate.Options{}); v.Sentence != tc.want {
				t.Errorf("Classify says\n%s, want\n%s", v.Sentence, tc.want)
			}
		})
	}
}

// TestMemoryIsAValue: Observe changes nothing that an older memory shows.
func TestMemoryIsAValue(t *testing.T) {
	first := podstate.Observe(podstate.Memory{}, runningPod("u1", 0, noon), noon)
	before := fmt.Sprintf("%+v", first)
	pod := crashPod("u1", 3, noon.Add(time.Minute), time.Second)
	second := podstate.Observe(first, pod, noon.Add(time.Minute))
	if after := fmt.Sprintf("%+v", first); before != after {
		t.Errorf("Observe changed the memory it was given from %s to %s", before, after)
	}
	if again := podstate.Observe(second, pod, noon.Add(2*time.Minute)); !reflect.DeepEqual(again, second) {
		t.Errorf("a second look made %+v of %+v", again, second)
	}
}

// TestMemoryIsBounded: a Pod of any number of containers takes no more.
func TestMemoryIsBounded(t *testing.T) {
	pod := &corev1.Pod{}
	for i := range 1000 {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: fmt.Sprint("c", i),
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: string(make([]byte, 1<<16)) + "x"}}})
	}
	memory := podstate.Observe(podstate.Memory{}, pod, noon)
	if size := len(fmt.Sprintf("%+v", memory)); size > 64<<10 {
		t.Errorf("the memory of a monstrous Pod prints as %d bytes", size)
	}
	checkVerdict(t, podstate.Classify(pod, memory, noon, podstate.Options{}))
}
