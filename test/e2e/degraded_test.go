package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// The condition Degraded, where it is asked for: true in the request, kept by
// the overlay when the platform writes its status anew, and gone without a trace
// once it is turned off.
func TestDegradedCondition(t *testing.T) {
	s := start(t, environment.Options{
		DeployOverlay: "status-only", Statuspatch: 1, StatuspatchArgs: []string{"--degraded-condition"},
		Platform: &platform.Options{Parallel: true, Flavour: platform.Unikraft},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 2, "us")), 2)
	degraded := func() [2]said {
		return [2]said{
			saysOf(get(s, deployment, &computeapi.WorkloadDeployment{}).Status.Conditions, "Degraded"),
			saysOf(get(s, "api", &computeapi.Workload{}).Status.Conditions, "Degraded"),
		}
	}
	well := said{metav1.ConditionFalse, "AsExpected", "Nothing fails beside what serves"}
	s.waitFor("both to say that nothing fails", func() (bool, string) {
		got := degraded()
		return got == [2]said{well, well}, got[0].Message + " / " + got[1].Message
	})

	s.provider(instance(deployment, 1), platform.CrashLoop)
	want := [2]said{
		{metav1.ConditionTrue, "InstanceCrashing", `1 of 2 instances is repeatedly exiting and restarting: Container "app" keeps exiting (last exit code 1); restarting.`},
		{metav1.ConditionTrue, "InstanceCrashing", `placement "main": 1 of 2 instances is repeatedly exiting and restarting.`},
	}
	require.Equal(t, want, degraded(), "the moment the Instance's write has returned")

	// The platform's syncer replaces a whole status, and knows no such condition.
	writer, err := s.Client(environment.Writer)
	require.NoError(t, err)
	// The platform writes beside it, so that it may have to read again.
	require.NoError(t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		d := get(s, deployment, &computeapi.WorkloadDeployment{})
		d.Status.Conditions = slices.DeleteFunc(d.Status.Conditions, func(c metav1.Condition) bool { return c.Type == "Degraded" })
		return writer.Status().Update(s.ctx, d)
	}))
	require.Equal(t, want, degraded(), "after a write that dropped it")

	// A process without the flag takes it away.
	before := s.Sidecars[0]
	require.NoError(t, before.Stop())
	_, err = s.StartSidecar(s.ctx, "--degraded-condition=false")
	require.NoError(t, err)
	s.waitFor("Degraded to be gone", func() (bool, string) {
		got := degraded()
		return got == [2]said{}, got[0].Message + " / " + got[1].Message
	})
	require.Equal(t, metav1.ConditionTrue, s.workloadSays("api").Status)
}
