package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// The overlay cannot be called, and the platform's workload controller undoes
// each repair of the Workload and is woken by each of its own writes. The loop
// must not let itself be drawn into a race.
func TestOverlayAwayMakesNoWriteLoop(t *testing.T) {
	t.Parallel() // it watches for a minute and does little else
	s := start(t, environment.Options{
		Statuspatch: 1,
		Platform:    &platform.Options{Parallel: true},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 1, "us")), 1)
	s.atRest(patience)
	s.StatusFront.SetOpen(false)

	stored := s.versionsSeen("api")
	s.provider(instance(deployment, 0), platform.ImageUnavailable)
	minute := time.NewTimer(time.Minute)
	defer minute.Stop()
	select {
	case <-minute.C:
	case <-s.ctx.Done():
		require.NoError(t, context.Cause(s.ctx))
	}
	seen := stored()
	t.Logf("%d versions of the Workload were stored in a minute", seen)
	assert.LessOrEqual(t, seen, 20, "versions of the Workload in a minute")
	assert.Greater(t, seen, 2, "the loop repairs and the platform undoes it, or this shows nothing")

	want := said{metav1.ConditionFalse, "ImageUnavailable", "1 of 1 instances could not pull its image."}
	assert.Equal(t, want, s.deploymentSays(deployment), "the platform has no reason to write the deployment again")
	s.StatusFront.SetOpen(true)
	s.rewriteWorkload()
	assert.Equal(t, want, s.workloadSays("api"), "right after the next write")
	s.atRest(patience)
}

// With hold-reason installed a repair of the Workload stands, though the
// overlay cannot be called and the platform's controllers run.
func TestHoldReasonKeepsARepairWhileTheOverlayCannotBeCalled(t *testing.T) {
	s := start(t, environment.Options{
		Components:  []string{"hold-reason"},
		Statuspatch: 1,
		Platform:    &platform.Options{Parallel: true},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 1, "us")), 1)
	s.StatusFront.SetOpen(false)

	s.provider(instance(deployment, 0), platform.ImageUnavailable)
	want := said{metav1.ConditionFalse, "ImageUnavailable", "1 of 1 instances could not pull its image."}
	s.within(promise, "both parents to be true", func() (bool, string) {
		d, w := s.deploymentSays(deployment), s.workloadSays("api")
		return d == want && w == want, d.Message + " / " + w.Message
	})
	// Until its caches have caught up, the platform may say True once more, which
	// the policy lets pass: it is how a reason ends.
	s.atRest(patience)
	calls := s.Platform.Workload.Writes().Calls
	reads := 0
	s.waitFor("200 reads, and fifty writes of the platform", func() (bool, string) {
		s.wakePlatform()
		require.Equal(t, want, s.workloadSays("api"), "every read after the repair")
		reads++
		writes := s.Platform.Workload.Writes().Calls - calls
		return reads >= 200 && writes > 50, fmt.Sprintf("%d reads, %d writes", reads, writes)
	})
	s.provider(instance(deployment, 0), platform.Running)
	s.within(promise, "recovery", func() (bool, string) {
		d, w := s.deploymentSays(deployment), s.workloadSays("api")
		return d.Status == metav1.ConditionTrue && w.Status == metav1.ConditionTrue, d.Message + " / " + w.Message
	})

	s.StatusFront.SetOpen(true)
	s.provider(instance(deployment, 0), crashes)
	want = said{metav1.ConditionFalse, "InstanceCrashing", "1 of 1 instances is repeatedly exiting and restarting: " + crashDetail + "."}
	s.told(deployment, "api", want, want, "right after the write, callable again")
	s.atRest(patience)
}

// rewriteWorkload sends the Workload's status back as the platform would make
// it, until it does not meet a newer version.
func (s *scene) rewriteWorkload() {
	s.t.Helper()
	r := s.rude("")
	s.waitFor("a write of the Workload", func() (bool, string) {
		w := get(s, "api", &computeapi.Workload{})
		w.Status.Conditions = []metav1.Condition{available(noPlacement)}
		err := r.writer.Status().Update(s.ctx, w, client.FieldOwner("manager-update"))
		if !apierrors.IsConflict(err) {
			require.NoError(s.t, err)
		}
		return err == nil, "a conflict"
	})
}

// versionsSeen watches a Workload from now on; what it returns ends the watch
// and tells how many versions were stored.
func (s *scene) versionsSeen(name string) (stop func() int) {
	s.t.Helper()
	from := get(s, name, &computeapi.Workload{}).ResourceVersion
	w, err := s.customer.Watch(s.ctx, &computeapi.WorkloadList{}, client.InNamespace(namespace),
		client.MatchingFields{"metadata.name": name},
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: from}})
	require.NoError(s.t, err)
	seen := map[string]bool{}
	var watching sync.WaitGroup
	watching.Go(func() {
		for event := range w.ResultChan() {
			if o, ok := event.Object.(*computeapi.Workload); ok {
				seen[o.ResourceVersion] = true
			}
		}
	})
	return func() int {
		w.Stop()
		watching.Wait()
		return len(seen)
	}
}
