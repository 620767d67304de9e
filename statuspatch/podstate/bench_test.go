package podstate_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

// BenchmarkPod is one look at a Pod: what each of its events costs.
func BenchmarkPod(b *testing.B) {
	for name, pod := range map[string]*corev1.Pod{
		"healthy":  runningPod("u1", 0, noon.Add(-time.Hour)),
		"crashing": crashPod("u1", 43, noon.Add(-20*time.Second), 12*time.Second),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			memory := podstate.Observe(podstate.Memory{}, pod, noon)
			for b.Loop() {
				memory = podstate.Observe(memory, pod, noon)
				podstate.Classify(pod, memory, noon, podstate.Options{})
			}
		})
	}
}

// TestAHealthyPodAllocatesNothing: most events of a cell are of such Pods.
func TestAHealthyPodAllocatesNothing(t *testing.T) {
	pod := runningPod("u1", 0, noon.Add(-time.Hour))
	memory := podstate.Observe(podstate.Memory{}, pod, noon)
	if n := testing.AllocsPerRun(100, func() {
		memory = podstate.Observe(memory, pod, noon)
		podstate.Classify(pod, memory, noon, podstate.Options{})
	}); n > 0 {
		t.Errorf("a look at a healthy Pod allocates %v times, want none", n)
	}
}
