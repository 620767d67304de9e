package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// The parents say the truth the moment the Instance's write returns: nothing
// here waits between the write and the read, and neither the overlay nor the
// loop is there to help.
func TestRequestPathTellsTheTruthBeforeTheWriteReturns(t *testing.T) {
	s := start(t, environment.Options{
		Without:     []string{environment.Overlay},
		Statuspatch: 1, StatuspatchArgs: noLoop,
		Platform: &platform.Options{Parallel: true},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 1, "us")), 1)
	// The platform's own controllers would take back what the request wrote; the
	// overlay, which keeps them from it, is left out here.
	s.Platform.Deployment.Pause()
	s.Platform.Workload.Pause()

	s.provider(instance(deployment, 0), platform.CrashLoop.By(platform.Unikraft))
	want := said{metav1.ConditionFalse, "InstanceCrashing",
		`1 of 1 instances is repeatedly exiting and restarting: Container "app" keeps exiting (last exit code 1); restarting.`}
	assert.Equal(t, want, s.deploymentSays(deployment))
	assert.Equal(t, want, s.workloadSays("api"))
}
