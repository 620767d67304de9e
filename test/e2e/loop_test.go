package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// promise is how soon the loop makes the parents true.
const promise = 5 * time.Second

// within fails the test if the state takes longer than Causeway promises.
func (s *scene) within(limit time.Duration, what string, reached func() (bool, string)) {
	s.t.Helper()
	began := time.Now()
	s.waitFor(what, reached)
	took := time.Since(began)
	s.t.Logf("%s: %s", what, took.Round(time.Millisecond))
	assert.LessOrEqual(s.t, took, limit, what)
}

// The loop alone: neither status webhook is installed, so the platform takes
// back each repair of a Workload at once, unless it is paused.
func TestLoopRepairsWithoutAnyWebhook(t *testing.T) {
	s := start(t, environment.Options{
		Without:     []string{environment.Status, environment.Overlay},
		Statuspatch: 1,
		Platform:    &platform.Options{Parallel: true},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 1, "us")), 1)
	want := said{metav1.ConditionFalse, "ImageUnavailable", "1 of 1 instances could not pull its image."}

	s.provider(instance(deployment, 0), platform.ImageUnavailable)
	s.within(promise, "the deployment to be true", func() (bool, string) {
		got := s.deploymentSays(deployment)
		return got == want, got.Message
	})
	s.Platform.Workload.Pause()
	s.provider(instance(deployment, 0), platform.ConfigError)
	s.within(promise, "the Workload to be true while the platform is paused", func() (bool, string) {
		got := s.workloadSays("api")
		return got.Reason == "ConfigurationError", got.Message
	})
	s.Platform.Workload.Resume()

	// The Instance that is made in its place runs.
	i := get(s, instance(deployment, 0).Name, &computeapi.Instance{})
	require.NoError(t, s.customer.Delete(s.ctx, i))
	s.within(promise, "the reason to clear when its Instance is deleted", func() (bool, string) {
		got := s.deploymentSays(deployment)
		return got.Reason != "ConfigurationError", got.Message
	})
}
