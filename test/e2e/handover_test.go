package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

func TestStandbyTakesOverFromAKilledProcess(t *testing.T) {
	s := start(t, environment.Options{
		Statuspatch: 2,
		Platform:    &platform.Options{Parallel: true},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 1, "us")), 1)

	s.active().Kill()
	s.provider(instance(deployment, 0), platform.ImageUnavailable)
	want := said{metav1.ConditionFalse, "ImageUnavailable", "1 of 1 instances could not pull its image."}
	s.within(promise, "both parents to be true after the active process was killed", func() (bool, string) {
		d, w := s.deploymentSays(deployment), s.workloadSays("api")
		return d == want && w == want, d.Message + " / " + w.Message
	})
}

func TestHandOverInOrder(t *testing.T) {
	s := start(t, environment.Options{
		Statuspatch: 2,
		Platform:    &platform.Options{Parallel: true},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 1, "us")), 1)
	first := s.active()
	if err := first.Stop(); err != nil {
		t.Fatalf("the active process stops in order: %v\n%s", err, first.Log())
	}
	s.within(promise, "the standby to be active", func() (bool, string) {
		active := s.StatusFront.Active()
		return active != nil && active != first, "none"
	})
	s.provider(instance(deployment, 0), platform.CrashLoop.By(platform.Unikraft))
	if got := s.workloadSays("api"); got.Status != metav1.ConditionFalse || got.Reason != "InstanceCrashing" {
		t.Errorf("the Workload says %+v right after the write", got)
	}
}
