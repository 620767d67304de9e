package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// The overlay alone: the platform's own status writes carry the reason, without
// the request path and without the loop.
func TestOverlayCarriesTheReasonOnThePlatformsOwnWrites(t *testing.T) {
	s := start(t, environment.Options{
		Without:     []string{environment.Status},
		Statuspatch: 1, StatuspatchArgs: noLoop,
		Platform: &platform.Options{Parallel: true},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 1, "us")), 1)

	s.provider(instance(deployment, 0), platform.ImageUnavailable)
	want := said{metav1.ConditionFalse, "ImageUnavailable", "1 of 1 instances could not pull its image."}
	s.waitFor("the platform's own writes to carry the reason", func() (bool, string) {
		d, w := s.deploymentSays(deployment), s.workloadSays("api")
		return d == want && w == want, d.Message + " / " + w.Message
	})
}

// The platform's controllers write their statuses over and over; with the
// overlay between them and the store, nothing is stored.
func TestOverlayMakesTheLossyWritesTrueNoOps(t *testing.T) {
	s := start(t, environment.Options{
		Statuspatch: 1, StatuspatchArgs: noLoop,
		Platform: &platform.Options{Parallel: true},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 1, "us")), 1)
	// The writers below take the place of the platform's controllers.
	s.Platform.Deployment.Pause()
	s.Platform.Workload.Pause()
	s.provider(instance(deployment, 0), platform.CrashLoop.By(platform.Unikraft))

	// One lossy write by each of two field managers settles who owns the list.
	writers := s.lossyWriters(deployment)
	for _, write := range writers {
		write()
	}
	before := s.versions(deployment, "api")
	for range 100 {
		for _, write := range writers {
			write()
		}
		require.Equal(t, "InstanceCrashing", s.deploymentSays(deployment).Reason)
		require.Equal(t, "InstanceCrashing", s.workloadSays("api").Reason)
	}
	assert.Equal(t, before, s.versions(deployment, "api"), "resourceVersions after 200 lossy writes of each parent")
}
