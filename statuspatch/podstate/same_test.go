package podstate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

func TestSame(t *testing.T) {
	crash := func(n int, rest string) string {
		return fmt.Sprintf(`container "app" has exited and restarted %d times without staying up for 5 minutes. Its last exit was %s`, n, rest)
	}
	total := func(n int, lasted, rest string) string {
		return fmt.Sprintf(`container "app" has restarted %d times; its last run lasted %s. It exited %s`, n, lasted, rest)
	}
	words := func(s string) string { return `with code 1. Its last words are: "` + s + `".` }
	unfit := func(s string) string { return "its Pod fits on no node yet. The scheduler says: \"" + s + "\"." }
	tests := map[string]struct {
		stored, fresh string
		want          bool
	}{
		"3 and 4":     {crash(3, "with code 1."), crash(4, "with code 1."), true},
		"4 and 5":     {crash(4, "with code 1."), crash(5, "with code 1."), false},
		"3 and 5":     {crash(3, "with code 1."), crash(5, "with code 1."), false},
		"5 and 9":     {crash(5, "with code 1."), crash(9, "with code 1."), true},
		"5 and 10":    {crash(5, "with code 1."), crash(10, "with code 1."), false},
		"20 and 49":   {crash(20, "with code 1."), crash(49, "with code 1."), true},
		"43 and 50":   {crash(43, "with code 1."), crash(50, "with code 1."), false},
		"99 and 2000": {crash(99, "with code 1."), crash(2000, "with code 1."), false},
		"a count that fell, since the Pod is another one": {crash(43, "with code 1."), crash(2, "with code 1."), false},
		"another exit code":                                  {crash(3, "with code 1."), crash(3, "with code 2."), false},
		"another container":                                  {crash(3, "with code 1."), strings.Replace(crash(3, "with code 1."), "app", "log", 1), false},
		"another length of the last run":                     {total(43, "12 seconds", "with code 1."), total(43, "3 minutes", "with code 1."), true},
		"the other way to count":                             {crash(43, "with code 1."), total(44, "12 seconds", "with code 1."), true},
		"the other way to count, past a mark":                {crash(3, "with code 1."), total(43, "12 seconds", "with code 1."), false},
		"a lost duration":                                    {total(43, "12 seconds", "with code 1."), `container "app" has restarted 43 times. It exited with code 1.`, true},
		"last words with another time":                       {crash(3, words("12:01:03 pid 17: out of cheese")), crash(4, words("12:02:44 pid 23: out of cheese")), true},
		"other last words at the next restart":               {crash(3, words("out of cheese")), crash(4, words("out of bread")), false},
		"other last words without a restart":                 {crash(3, words("out of cheese")), crash(3, words("out of bread")), true},
		"other last words, after less than a tenth more":     {crash(50, words("out of cheese")), crash(54, words("out of bread")), true},
		"other last words, after a tenth more":               {crash(50, words("out of cheese")), crash(55, words("out of bread")), false},
		"last words that were missing":                       {crash(50, "with code 1."), crash(51, words("out of bread")), false},
		"last words that are missing now":                    {crash(50, words("out of cheese")), crash(51, "with code 1."), true},
		"other numbers of nodes":                             {unfit("0/3 nodes are available: 3 Insufficient memory."), unfit("0/4 nodes are available: 4 Insufficient memory."), true},
		"another cause of not fitting":                       {unfit("0/3 nodes are available: 3 Insufficient memory."), unfit("0/3 nodes are available: 3 Insufficient cpu."), false},
		"the first run's length":                             {`container "app" ended after 12 seconds and is being restarted. It exited with code 1.`, `container "app" ended after 3 seconds and is being restarted. It exited with code 1.`, true},
		"the first restart":                                  {`container "app" ended after 12 seconds and is being restarted. It exited with code 1.`, `container "app" has restarted 1 time; its last run lasted 12 seconds. It exited with code 1.`, false},
		"another limit":                                      {crash(3, "") + "It ran out of memory: its limit is 1Gi.", crash(3, "") + "It ran out of memory: its limit is 2Gi.", false},
		"words that look like the end of the quote":          {crash(3, words(`a\" The node says: \"b`)), crash(3, words(`a\" The node says: \"b`)), true},
		"a count nobody can hold is no count but a sentence": {crash(3, "with code 1."), `container "app" has restarted 99999999999999999999 times. It exited with code 1.`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := podstate.Same(tc.stored, tc.fresh); got != tc.want {
				t.Errorf("Same = %t, want %t\nstored %s\nfresh  %s", got, tc.want, tc.stored, tc.fresh)
			}
		})
	}
}

// TestACrashLoopIsFewWrites plays 500 restarts of a container, each shown by the
// kubelet as running and ready, as terminated and as CrashLoopBackOff, and
// counts the patches. A provider claims True after every step.
func TestACrashLoopIsFewWrites(t *testing.T) {
	for name, tc := range map[string]struct {
		last func(n int) string
		want int
	}{
		"without last words":                 {func(int) string { return "" }, 10},
		"with the time in the last words":    {func(n int) string { return fmt.Sprintf("%d: no database", n) }, 10},
		"with last words that always differ": {func(n int) string { return "no " + strings.Repeat("x", n) }, 57},
	} {
		t.Run(name, func(t *testing.T) {
			var memory podstate.Memory
			stored := available("True Available Instance is available")
			writes, provider := 0, 0
			step := func(now time.Time, s corev1.ContainerStatus) {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u1"},
					Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{s}}}
				memory = podstate.Observe(memory, pod, now)
				v := podstate.Classify(pod, memory, now, podstate.Options{})
				if c := podstate.Correct(v, stored, nil, now); c.Changes {
					writes++
					stored = &c.Condition
				}
				incoming := available("True Available Instance is available")
				if c := podstate.Correct(v, stored, incoming, now); c.Governs && c.Condition != *stored || !c.Governs && *incoming != *stored {
					provider++
				}
			}
			now := noon
			var last corev1.ContainerState
			for n := range 500 {
				started := metav1.NewTime(now)
				up := corev1.ContainerStatus{Name: "app", RestartCount: int32(n), Ready: true, LastTerminationState: last,
					State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}}}
				step(now.Add(time.Second), up)
				now = now.Add(30 * time.Second)
				step(now, up)
				ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1, Message: tc.last(n),
					StartedAt: started, FinishedAt: metav1.NewTime(now)}}
				step(now.Add(time.Second), corev1.ContainerStatus{Name: "app", RestartCount: int32(n), State: ended, LastTerminationState: last})
				last = ended
				step(now.Add(2*time.Second), corev1.ContainerStatus{Name: "app", RestartCount: int32(n), LastTerminationState: last,
					State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}})
				now = now.Add(5 * time.Minute)
			}
			if writes != tc.want || provider != 0 {
				t.Errorf("500 restarts were %d patches and let %d of the provider's writes through, want %d and 0", writes, provider, tc.want)
			}
		})
	}
}
