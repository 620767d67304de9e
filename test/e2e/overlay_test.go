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
	s.atRest(patience)
}

// Controllers write their statuses over and over, by update and by patch, each
// as a field manager of its own; with the overlay between them and the store,
// nothing is stored.
func TestOverlayMakesTheLossyWritesTrueNoOps(t *testing.T) {
	s := start(t, environment.Options{
		Statuspatch: 1, StatuspatchArgs: noLoop,
		Platform: &platform.Options{
			Parallel:   true,
			Deployment: platform.WriterOptions{FieldManager: "deployments-by-patch", Style: platform.StylePatch},
			Workload:   platform.WriterOptions{FieldManager: "workloads-by-blind-patch", Style: platform.StyleBlindPatch},
		},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 1, "us")), 1)
	want := crashStory[3].deployment
	want.Message = "1 of 1 instances is repeatedly exiting and restarting: " + crashDetail + "."

	// The platform's own controllers, which patch here.
	s.provider(instance(deployment, 0), crashes)
	before := s.atRestVersions(deployment)
	calls := s.Platform.Workload.Writes().Calls
	s.waitFor("the platform's controllers to write 60 times", func() (bool, string) {
		s.wakePlatform()
		s.told(deployment, "api", want, want, "while the platform writes")
		return s.Platform.Workload.Writes().Calls > calls+60, "not yet"
	})
	assert.Equal(t, before, s.versions(deployment, "api"), "resourceVersions after sixty writes of the platform")

	// The writers below take the place of the platform's controllers.
	s.Platform.Deployment.Pause()
	s.Platform.Workload.Pause()
	// Causeway writes once more, and so has the list again.
	s.provider(instance(deployment, 0), platform.ConfigError)
	s.provider(instance(deployment, 0), crashes)
	s.atRest(patience) // the instance controller has followed
	r := s.rude(deployment)
	styles := r.styles()
	r.write(styles[0], provisioning) // the first may take the list over
	before = s.versions(deployment, "api")
	for n := range 200 {
		d, w := r.write(styles[(n+1)%len(styles)], provisioning)
		require.Equal(t, [2]said{want, want}, [2]said{d, w}, "after write %d", n)
	}
	assert.Equal(t, before, s.versions(deployment, "api"), "resourceVersions after 200 lossy writes of each parent")

	// A controller that says True over the stored False.
	for n := range 50 {
		d, w := r.write(styles[n%len(styles)], said{metav1.ConditionTrue, "StableInstanceFound", "1/1 instances are ready"})
		require.Equal(t, [2]said{want, want}, [2]said{d, w}, "after write %d", n)
	}
	assert.Equal(t, before, s.versions(deployment, "api"), "resourceVersions after 50 times True over False")
}

// atRestVersions are the versions of both parents once nothing moves any more.
func (s *scene) atRestVersions(deployment string) [2]string {
	s.t.Helper()
	s.atRest(patience)
	return s.versions(deployment, "api")
}

// What only single writes can show, each of them the test's own: no platform
// runs here, and no loop.
func TestOverlayWriteByWrite(t *testing.T) {
	s := start(t, environment.Options{Statuspatch: 1, StatuspatchArgs: noLoop})
	image := said{metav1.ConditionFalse, "ImageUnavailable", "1 of 1 instances could not pull its image."}

	s.in("the first status ever written carries the reason", func(s *scene) {
		h := s.byHand()
		f := h.family("first", "main")
		h.fails(h.instance(f.deployments[0], 0), "ImageUnavailable", "The instance image could not be pulled")
		w, d, _ := h.says(f)
		require.Equal(s.t, [2]said{}, [2]said{w, d}, "a parent without a status is left alone")
		h.status(f, 1)
		w, d, p := h.says(f)
		assert.Equal(s.t, [3]said{image, image, image}, [3]said{w, d, p})
	})

	s.in("a base of rank 8 wins while it lasts", func(s *scene) {
		h := s.byHand()
		f := h.family("based", "main")
		i := h.instance(f.deployments[0], 0)
		h.status(f, 1)
		h.fails(i, "ImageUnavailable", "The instance image could not be pulled")
		w, d, p := h.says(f)
		require.Equal(s.t, [3]said{image, image, image}, [3]said{w, d, p})

		mismatch := said{metav1.ConditionFalse, "LocationMismatch", "The deployment asks for another location than the cell serves"}
		h.writeDeployment(f.deployments[0], 1, mismatch)
		h.writeWorkload(f.workload, noPlacement)
		w, d, p = h.says(f)
		told := said{metav1.ConditionFalse, "LocationMismatch", `placement "main": ` + mismatch.Message}
		assert.Equal(s.t, [3]said{told, mismatch, told}, [3]said{w, d, p}, "written as it stands")

		// What the Instance reports meanwhile does not push it aside.
		h.fails(i, "ConfigurationError", "it has no containers")
		w, d, p = h.says(f)
		assert.Equal(s.t, [3]said{told, mismatch, told}, [3]said{w, d, p}, "while it lasts")

		h.writeDeployment(f.deployments[0], 1, provisioning)
		h.writeWorkload(f.workload, noPlacement)
		w, d, p = h.says(f)
		config := said{metav1.ConditionFalse, "ConfigurationError", "1 of 1 instances cannot start as configured: it has no containers."}
		assert.Equal(s.t, [3]said{config, config, config}, [3]said{w, d, p}, "when it clears")

		missing := said{metav1.ConditionFalse, "NetworkNotFound", "Unable to find networks: default"}
		h.writeWorkload(f.workload, missing)
		w, d, _ = h.says(f)
		assert.Equal(s.t, [2]said{missing, config}, [2]said{w, d}, "a Workload's own base")
		h.ready(i)
		w, d, _ = h.says(f)
		assert.Equal(s.t, missing, w, "it stands even over a ready Instance")
		assert.Equal(s.t, "1/1 instances are ready", d.Message)
		h.writeWorkload(f.workload, noPlacement)
		w, _, p = h.says(f)
		assert.Equal(s.t, "At least one available placement was found", w.Message)
		assert.Equal(s.t, "At least one available deployment was found", p.Message)
	})

	s.in("what a stale controller says of a serving workload", func(s *scene) {
		h := s.byHand()
		f := h.family("serving", "main")
		i := h.instance(f.deployments[0], 0)
		h.status(f, 1)
		h.ready(i)
		var before [2]string
		for n := range 10 {
			h.writeDeployment(f.deployments[0], 1, provisioning)
			h.writeWorkload(f.workload, noPlacement)
			if n == 0 {
				before = s.versions(f.deployments[0].Name, "serving")
			}
			w, d, p := h.says(f)
			assert.Equal(s.t, metav1.ConditionTrue, w.Status)
			assert.Equal(s.t, metav1.ConditionTrue, d.Status)
			assert.Equal(s.t, metav1.ConditionTrue, p.Status)
		}
		assert.Equal(s.t, before, s.versions(f.deployments[0].Name, "serving"))
	})
}
