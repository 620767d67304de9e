package podstore

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// grants is what one class, which is the default, grants.
func grants(class string) (string, []string) {
	if class != "" && class != "web" {
		return class, nil
	}
	return "web", []string{"CHOWN", "KILL"}
}

// startingUp is the Pod of web-0 in its first run, which then may have ended.
func startingUp(ended bool) *corev1.Pod {
	return crashing(func(p *corev1.Pod) {
		drop := &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"KILL"}}}
		p.Spec.Containers = []corev1.Container{{Name: "app", SecurityContext: drop}, {Name: "agent", SecurityContext: drop}}
		state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-time.Second))}}
		if ended {
			state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1,
				StartedAt: metav1.NewTime(noon.Add(-time.Second)), FinishedAt: metav1.NewTime(noon)}}
		}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: state}, {Name: "agent", State: state}}
	})
}

func TestLacks(t *testing.T) {
	sandboxed := func(class string, containers ...string) *Instance {
		i := available("1", "i1")
		i.Class, i.Containers = class, containers
		return i
	}
	lacks := func(containers ...string) (list []rollup.Lack) {
		for _, c := range containers {
			list = append(list, rollup.Lack{Class: "web", Container: c, Capabilities: "CHOWN"})
		}
		return list
	}
	tests := map[string]struct {
		instance *Instance
		pods     []*corev1.Pod
		uid      types.UID
		want     []rollup.Lack
	}{
		"of a container that crashes":             {sandboxed("web", "app"), []*corev1.Pod{startingUp(false), startingUp(true)}, "i1", lacks("app")},
		"of the class that is the default":        {sandboxed("", "app", "agent"), []*corev1.Pod{startingUp(false), startingUp(true)}, "i1", lacks("app", "agent")},
		"none of a container that does not crash": {sandboxed("web", "app"), []*corev1.Pod{startingUp(false)}, "i1", nil},
		"none of a class that grants nothing":     {sandboxed("other", "app"), []*corev1.Pod{startingUp(false), startingUp(true)}, "i1", nil},
		"none of a virtual machine":               {sandboxed("web"), []*corev1.Pod{startingUp(false), startingUp(true)}, "i1", nil},
		"none without a Pod":                      {sandboxed("web", "app"), nil, "i1", nil},
		"none by the Pod of a predecessor": {sandboxed("web", "app"), []*corev1.Pod{startingUp(false), func() *corev1.Pod {
			p := startingUp(true)
			p.OwnerReferences[0].UID = "i0"
			return p
		}()}, "i1", nil},
		"none without an Instance": {nil, []*corev1.Pod{startingUp(false), startingUp(true)}, "", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, _ := newStore()
			if tc.instance != nil {
				s.ObserveInstance(tc.instance)
			}
			for _, p := range tc.pods {
				s.ObservePod(p)
			}
			uid, got, _ := s.Lacks(web, grants)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" || uid != tc.uid {
				t.Errorf("Lacks of %q, want %q (-want +got):\n%s", uid, tc.uid, diff)
			}
		})
	}
}
