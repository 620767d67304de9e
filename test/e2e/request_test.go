package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// crashes is a state that providers of today report with a detail.
var crashes = platform.CrashLoop.By(platform.Unikraft)

const crashDetail = `Container "app" keeps exiting (last exit code 1); restarting`

// What a deployment of three Instances and its Workload say by how many of them
// crash.
var crashStory = []struct{ deployment, workload said }{
	{said{metav1.ConditionTrue, "StableInstanceFound", "3/3 instances are ready"},
		said{metav1.ConditionTrue, "AvailablePlacementFound", "At least one available placement was found"}},
	{said{metav1.ConditionTrue, "StableInstanceFound", "2/3 instances are ready; 1 is repeatedly exiting and restarting"},
		said{metav1.ConditionTrue, "AvailablePlacementFound",
			`At least one available placement was found; placement "main": 1 of 3 instances is repeatedly exiting and restarting.`}},
	{said{metav1.ConditionTrue, "StableInstanceFound", "1/3 instances are ready; 2 are repeatedly exiting and restarting"},
		said{metav1.ConditionTrue, "AvailablePlacementFound",
			`At least one available placement was found; placement "main": 2 of 3 instances are repeatedly exiting and restarting.`}},
	{said{metav1.ConditionFalse, "InstanceCrashing", "3 of 3 instances are repeatedly exiting and restarting: " + crashDetail + "."},
		said{metav1.ConditionFalse, "InstanceCrashing", "3 of 3 instances are repeatedly exiting and restarting: " + crashDetail + "."}},
}

// told reads both parents live, once, and compares.
func (s *scene) told(deployment, workload string, wantDeployment, wantWorkload said, when string) {
	s.t.Helper()
	assert.Equal(s.t, wantDeployment, s.deploymentSays(deployment), "deployment, %s", when)
	assert.Equal(s.t, wantWorkload, s.workloadSays(workload), "workload, %s", when)
}

// The parents say the truth the moment the Instance's write returns: nothing
// here waits between the write and the read, and neither the overlay nor the
// loop is there to help.
func TestRequestPathTellsTheTruthBeforeTheWriteReturns(t *testing.T) {
	s := start(t, environment.Options{
		Without:     []string{environment.Overlay},
		Statuspatch: 1, StatuspatchArgs: noLoop,
		Platform: &platform.Options{Parallel: true},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 3, "us")), 3)
	// The platform's own controllers would take back what the request wrote; the
	// overlay, which keeps them from it, is left out here.
	s.Platform.Deployment.Pause()
	s.Platform.Workload.Pause()

	for crashed := 1; crashed <= 3; crashed++ {
		s.provider(instance(deployment, crashed-1), crashes)
		want := crashStory[crashed]
		s.told(deployment, "api", want.deployment, want.workload, "right after one more crashed")
	}

	// An Instance is ready when Ready says so, which the platform's instance
	// controller writes after the provider. Here the test writes it.
	first := instance(deployment, 0)
	ready := func() string {
		return saysOf(get(s, first.Name, &computeapi.Instance{}).Status.Conditions, computeapi.ReadyCondition).Reason
	}
	s.waitFor("Ready to follow", func() (bool, string) { return ready() == "InstanceCrashing", ready() })
	s.Platform.Instance.Pause()
	s.provider(first, platform.Running)
	require.Equal(t, "InstanceCrashing", ready())
	s.told(deployment, "api", crashStory[3].deployment, crashStory[3].workload, "while Ready says otherwise")
	writer := s.byHand().writer
	// The provider's own loop may write beside it.
	require.NoError(t, retryOnConflict(func() error {
		i := get(s, first.Name, &computeapi.Instance{})
		ready := computeapi.Condition(i.Status.Conditions, computeapi.ReadyCondition)
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, "Available", "Instance is ready"
		return writer.Status().Update(s.ctx, i)
	}))
	s.told(deployment, "api", crashStory[2].deployment, crashStory[2].workload, "right after the write that makes it ready")

	metrics, err := s.Sidecars[0].Metrics(s.ctx)
	require.NoError(t, err)
	assert.Zero(t, valueOf(t, metrics, `causeway_status_parent_writes_total{cause="repair",kind="Workload"}`), "nothing was repaired")
}

// With the overlay the truth stays, though the platform's controllers run and
// write over and over. The loop is off.
func TestTruthStaysBesideTheWritingPlatform(t *testing.T) {
	s := start(t, environment.Options{
		Statuspatch: 1, StatuspatchArgs: noLoop,
		Platform: &platform.Options{Parallel: true},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 3, "us")), 3)
	for crashed := 1; crashed <= 3; crashed++ {
		s.provider(instance(deployment, crashed-1), crashes)
		want := crashStory[crashed]
		s.told(deployment, "api", want.deployment, want.workload, "right after one more crashed")
		writes := func() int64 { return s.Platform.Workload.Writes().Calls + s.Platform.Deployment.Writes().Calls }
		before := writes()
		s.waitFor("the platform to write thirty times", func() (bool, string) {
			s.wakePlatform()
			s.told(deployment, "api", want.deployment, want.workload, "while the platform writes")
			return t.Failed() || writes() > before+30, fmt.Sprint(writes() - before)
		})
		if t.Failed() {
			return
		}
	}
	for recovered := 1; recovered <= 3; recovered++ {
		s.provider(instance(deployment, recovered-1), platform.Running)
		want := crashStory[3-recovered]
		s.waitFor("one more to be ready", func() (bool, string) {
			d, w := s.deploymentSays(deployment), s.workloadSays("api")
			return d == want.deployment && w == want.workload, d.Message + " / " + w.Message
		})
	}
	s.atRest(patience)
}

// wakePlatform has the platform look at every Workload and every deployment
// again, and write what it makes of them.
func (s *scene) wakePlatform() {
	s.t.Helper()
	require.NoError(s.t, s.Platform.SetLocations(s.ctx, platform.NamedLocations("us", "eu")...))
	require.NoError(s.t, s.Platform.SetLocationError(s.ctx, instance("nobody", 0), platform.Verdict{}))
}

// Everything together, as operators run it: the requests do all the work, and
// the loop finds nothing to repair.
func TestAllThreeTogether(t *testing.T) {
	s := start(t, environment.Options{
		Statuspatch: 2,
		Platform:    &platform.Options{Parallel: true},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 3, "us")), 3)
	s.atRest(patience)
	repaired := s.repaired()
	for crashed := 1; crashed <= 3; crashed++ {
		s.provider(instance(deployment, crashed-1), crashes)
		want := crashStory[crashed]
		s.told(deployment, "api", want.deployment, want.workload, "right after one more crashed")
	}
	s.atRest(patience)
	s.told(deployment, "api", crashStory[3].deployment, crashStory[3].workload, "at rest")
	s.provider(instance(deployment, 0), platform.Running)
	s.waitFor("one to be ready", func() (bool, string) {
		got := s.workloadSays("api")
		return got == crashStory[2].workload, got.Message
	})
	s.atRest(patience)
	assert.Equal(t, repaired, s.repaired(), "parents repaired by the loop")

	// A crashing Instance that is deleted takes its reason along; its successor
	// runs.
	for ordinal := 1; ordinal < 3; ordinal++ {
		require.NoError(t, s.customer.Delete(s.ctx, get(s, instance(deployment, ordinal).Name, &computeapi.Instance{})))
	}
	s.within(promise, "the reason to clear when its Instances are deleted", func() (bool, string) {
		got := s.workloadSays("api")
		return got == crashStory[0].workload, got.Message
	})
	s.atRest(patience)
	s.told(deployment, "api", crashStory[0].deployment, crashStory[0].workload, "at rest")
}

// repaired counts the parents that the loops have written.
func (s *scene) repaired() (sum float64) {
	s.t.Helper()
	for _, p := range s.Sidecars {
		metrics, err := p.Metrics(s.ctx)
		require.NoError(s.t, err)
		for _, kind := range []string{"Workload", "WorkloadDeployment"} {
			sum += valueOf(s.t, metrics, `causeway_status_parent_writes_total{cause="repair",kind="`+kind+`"}`)
		}
	}
	return sum
}
