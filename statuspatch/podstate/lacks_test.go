package podstate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// without has the container run without all capabilities but these.
func without(pod *corev1.Pod, but ...corev1.Capability) *corev1.Pod {
	pod.Spec.Containers = []corev1.Container{{Name: "app", SecurityContext: &corev1.SecurityContext{
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: but}}}}
	return pod
}

// renamed is a Pod with the status of a container of another name.
func renamed(pod *corev1.Pod) *corev1.Pod {
	pod.Status.ContainerStatuses[0].Name = "other"
	return pod
}

var defaults = []string{"CHOWN", "KILL", "SETUID"}

func TestWhatAContainerRunsWithout(t *testing.T) {
	yes := true
	context := func(add, drop []corev1.Capability) *corev1.SecurityContext {
		return &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: add, Drop: drop}}
	}
	type names = []corev1.Capability
	tests := map[string]struct {
		context *corev1.SecurityContext
		want    string
	}{
		"all dropped":                             {context(nil, names{"ALL"}), "CHOWN, KILL, SETUID"},
		"all dropped, in any case":                {context(nil, names{"all"}), "CHOWN, KILL, SETUID"},
		"its add replaced the defaults":           {context(names{"NET_ADMIN", "KILL"}, names{"ALL"}), "CHOWN, SETUID"},
		"its add restates them":                   {context(names{"SETUID", "KILL", "chown"}, names{"ALL"}), ""},
		"its drop took one by name":               {context(names{"SETUID", "KILL", "CHOWN"}, names{"ALL", "KILL"}), "KILL"},
		"its drop took one, and not all":          {context(nil, names{"KILL"}), "KILL"},
		"all added, save one":                     {context(names{"ALL"}, names{"ALL", "KILL"}), "KILL"},
		"nothing stated: the runtime's own apply": {context(nil, nil), ""},
		"no capabilities":                         {&corev1.SecurityContext{}, ""},
		"no context":                              {nil, ""},
		"privileged":                              {&corev1.SecurityContext{Privileged: &yes, Capabilities: &corev1.Capabilities{Drop: names{"ALL"}}}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := crashPod("u1", 3, noon, time.Second)
			pod.Spec.Containers = []corev1.Container{{Name: "app", SecurityContext: tc.context}}
			memory := podstate.Observe(podstate.Memory{}, runningPod("u1", 0, noon.Add(-time.Minute)), noon.Add(-time.Minute))
			got, _ := podstate.Lacks(pod, podstate.Observe(memory, pod, noon), "web", defaults, noon)
			var want []rollup.Lack
			if tc.want != "" {
				want = []rollup.Lack{{Class: "web", Container: "app", Capabilities: tc.want}}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Lacks (-want +got):\n%s", diff)
			}
			if got, _ := podstate.Lacks(pod, podstate.Observe(memory, pod, noon), "web", nil, noon); got != nil {
				t.Errorf("of a class that grants nothing it lacks %v", got)
			}
		})
	}
}

func TestACrashAtStartup(t *testing.T) {
	at := func(d time.Duration) time.Time { return noon.Add(d) }
	last := func(pod *corev1.Pod, tweak func(*corev1.ContainerStateTerminated)) *corev1.Pod {
		tweak(pod.Status.ContainerStatuses[0].LastTerminationState.Terminated)
		return pod
	}
	runs := func(restarts int32, since time.Time, ready bool, after time.Duration) *corev1.Pod {
		pod := runningPod("u1", restarts, since)
		pod.Status.ContainerStatuses[0].Ready = ready
		pod.Status.ContainerStatuses[0].LastTerminationState = crashPod("u1", restarts, since, after).Status.ContainerStatuses[0].LastTerminationState
		return pod
	}
	type look struct {
		at  time.Time
		pod *corev1.Pod
	}
	first := look{at(0), runningPod("u1", 0, at(0))}
	const short = 12 * time.Second
	tests := map[string]struct {
		looks []look
		want  bool
		until time.Time
	}{
		"a Pod seen from its first run": {[]look{first, {at(time.Minute), crashPod("u1", 3, at(time.Minute), short)}}, true, time.Time{}},
		"a first run that has just ended": {[]look{first, {at(time.Minute), func() *corev1.Pod {
			pod := crashPod("u1", 0, at(time.Minute), short)
			s := &pod.Status.ContainerStatuses[0]
			s.State, s.LastTerminationState = s.LastTerminationState, corev1.ContainerState{}
			return pod
		}()}}, true, time.Time{}},
		"it runs again, and is ready: until its trial is over": {
			[]look{first, {at(time.Minute), runs(1, at(time.Minute), true, short)}}, true, at(time.Minute + 2*short)},
		"its trial is over": {[]look{first, {at(time.Minute), runs(1, at(time.Minute), true, short)},
			{at(2 * time.Minute), runs(1, at(time.Minute), true, short)}}, false, time.Time{}},
		"it runs again, and is not ready: until it has stayed up": {
			[]look{first, {at(time.Minute), runs(1, at(time.Minute), false, short)}}, true, at(time.Minute + podstate.StayUp)},
		"it has stayed up by now": {[]look{first, {at(time.Minute), runs(1, at(time.Minute), false, short)},
			{at(6 * time.Minute), runs(1, at(time.Minute), false, short)}}, false, time.Time{}},
		"it stayed up once, and crashes ever since": {[]look{first, {at(5 * time.Minute), first.pod},
			{at(6 * time.Minute), crashPod("u1", 1, at(6*time.Minute), short)}, {at(7 * time.Minute), crashPod("u1", 2, at(7*time.Minute), short)},
			{at(time.Hour), crashPod("u1", 40, at(time.Hour), short)}}, false, time.Time{}},
		"its first run stayed up, and was seen when it had ended": {[]look{first, {at(time.Hour), crashPod("u1", 1, at(time.Hour), time.Hour)},
			{at(61 * time.Minute), crashPod("u1", 2, at(61*time.Minute), short)}}, false, time.Time{}},
		"its first run stayed up, and was seen in the next one": {[]look{first, {at(time.Hour), runs(1, at(time.Hour), true, time.Hour)},
			{at(61 * time.Minute), crashPod("u1", 2, at(61*time.Minute), short)}}, false, time.Time{}},
		"it may have: the length of a run is not known": {[]look{first, {at(time.Minute), last(crashPod("u1", 1, at(time.Minute), short),
			func(e *corev1.ContainerStateTerminated) { e.StartedAt = metav1.Time{} })},
			{at(2 * time.Minute), crashPod("u1", 2, at(2*time.Minute), short)}}, false, time.Time{}},
		"it may have: restarts were missed for long": {[]look{first, {at(20 * time.Minute), crashPod("u1", 3, at(20*time.Minute), short)}}, false, time.Time{}},
		"it may have: nobody saw its first run":      {[]look{{at(0), crashPod("u1", 3, at(0), short)}}, false, time.Time{}},
		"another Pod of the same name":               {[]look{first, {at(time.Minute), crashPod("u2", 3, at(time.Minute), short)}}, false, time.Time{}},
		"it has not ended yet":                       {[]look{first}, false, time.Time{}},
		"it ran out of memory": {[]look{first, {at(time.Minute), last(crashPod("u1", 3, at(time.Minute), short),
			func(e *corev1.ContainerStateTerminated) { e.Reason, e.ExitCode = "OOMKilled", 137 })}}, false, time.Time{}},
		"its work was done": {[]look{first, {at(time.Minute), last(crashPod("u1", 3, at(time.Minute), short),
			func(e *corev1.ContainerStateTerminated) { e.Reason, e.ExitCode = "Completed", 0 })}}, false, time.Time{}},
		"it was never started": {[]look{first, {at(time.Minute), last(crashPod("u1", 3, at(time.Minute), short),
			func(e *corev1.ContainerStateTerminated) { e.Reason, e.ExitCode = "StartError", 128 })}}, false, time.Time{}},
		"the node made up its end": {[]look{first, {at(time.Minute), last(crashPod("u1", 3, at(time.Minute), short),
			func(e *corev1.ContainerStateTerminated) { e.Reason, e.ExitCode = "RestartingAllContainers", 137 })}}, false, time.Time{}},
		"a container that the Pod's spec does not have": {[]look{{at(0), renamed(runningPod("u1", 0, at(0)))},
			{at(time.Minute), renamed(crashPod("u1", 3, at(time.Minute), short))}}, false, time.Time{}},
		"an init container, which is not the customer's": {[]look{first, {at(time.Minute), func() *corev1.Pod {
			pod := crashPod("u1", 3, at(time.Minute), short)
			pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = pod.Status.ContainerStatuses, nil
			return pod
		}()}}, false, time.Time{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var memory podstate.Memory
			for _, l := range tc.looks {
				memory = podstate.Observe(memory, l.pod, l.at)
			}
			now, pod := tc.looks[len(tc.looks)-1].at, without(tc.looks[len(tc.looks)-1].pod.DeepCopy())
			pod.Spec.InitContainers = pod.Spec.Containers
			got, until := podstate.Lacks(pod, memory, "web", defaults, now)
			if (len(got) == 1) != tc.want || !until.Equal(tc.until) {
				t.Errorf("Lacks = %v until %v, want any: %t, until %v", got, until, tc.want, tc.until)
			}
		})
	}
}
