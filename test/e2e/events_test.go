package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

// A reason that is stored is told as an event on both parents, once; one that
// was never stored, although a request spoke of it, is not.
func TestEvents(t *testing.T) {
	s := start(t, environment.Options{DeployOverlay: "status-only", Statuspatch: 1})
	f := s.newFleet("told", 1, 1)
	core, err := kubernetes.NewForConfig(s.AdminConfig())
	require.NoError(t, err)
	// events are all of Causeway's, as "Kind Type Reason", sorted.
	events := func() (list []string) {
		all, err := core.EventsV1().Events(namespace).List(s.ctx, metav1.ListOptions{})
		require.NoError(t, err)
		for _, e := range all.Items {
			assert.Equal(t, "causeway", e.ReportingController)
			list = append(list, fmt.Sprintf("%s %s %s x%d", e.Regarding.Kind, e.Type, e.Reason, times(e)))
		}
		slices.Sort(list)
		return list
	}
	toldAre := func(want ...string) {
		t.Helper()
		s.waitFor("the events "+strings.Join(want, ", "), func() (bool, string) {
			got := events()
			return slices.Equal(got, want), strings.Join(got, ", ")
		})
	}

	require.NoError(t, patchConditions(s.ctx, s.customer, f.instance(0, 0), fleetCrashes))
	crashes := []string{"Workload Warning InstanceCrashing x1", "WorkloadDeployment Warning InstanceCrashing x1"}
	toldAre(crashes...)

	// What `kubectl describe` shows: the events by the object's UID.
	w := get(s, "told", &computeapi.Workload{})
	shown, err := core.CoreV1().Events(namespace).List(s.ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(w.UID)})
	require.NoError(t, err)
	require.Len(t, shown.Items, 1)
	assert.Equal(t, s.workloadSays("told").Message, shown.Items[0].Message)
	assert.Equal(t, corev1.EventTypeWarning, shown.Items[0].Type)

	require.NoError(t, patchConditions(s.ctx, s.customer, f.instance(0, 0), fleetReady))
	well := append(crashes, "Workload Normal AvailablePlacementFound x1", "WorkloadDeployment Normal StableInstanceFound x1")
	slices.Sort(well)
	toldAre(well...)

	// A ghost: our webhook has written the parents, another refuses the write.
	objector := s.newObjector()
	objector.refuses.Store(true)
	s.waitFor("a write to be refused", func() (bool, string) {
		// One that is stored, since the configuration is not in force yet, says
		// nothing new.
		err := patchConditions(s.ctx, s.customer, f.instance(0, 0), fleetReady)
		return err != nil && strings.Contains(err.Error(), "objector.example.com"), fmt.Sprint(err)
	})
	require.ErrorContains(t, patchConditions(s.ctx, s.customer, f.instance(0, 0), fleetCrashes), "objector.example.com")
	ghost, last := f.all(fleetCrashes)()
	assert.True(t, ghost, "the parents were written in the request: %s", last)
	objector.refuses.Store(false)
	s.waitFor("the ghost to be taken back", f.isTrue)

	// The next true change is told, and the ghost was not.
	require.NoError(t, patchConditions(s.ctx, s.customer, f.instance(0, 0), fleetLacksImage))
	image := append(well, "Workload Warning ImageUnavailable x1", "WorkloadDeployment Warning ImageUnavailable x1")
	slices.Sort(image)
	toldAre(image...)
}

// times is how often an event stands for.
func times(e eventsv1.Event) int32 {
	if e.Series != nil {
		return e.Series.Count
	}
	return 1
}
