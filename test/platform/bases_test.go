package platform_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/platform"
)

// TestBasesOfADeployment: what its controllers say without looking at any
// Instance, while an Instance fails (sections 3.1 and 4).
func TestBasesOfADeployment(t *testing.T) {
	w := start(t, func(o *platform.Options) { o.Initial = platform.PodFailed })
	workload := w.workload("web", 1, computeapi.WithClass("web"))
	deployment := w.onlyDeployment()
	w.untilDeployment(deployment, "Available", provisioningView.available)
	noPlacement := "False/NoAvailablePlacements No available placements were found for the workload"

	for _, tc := range []struct {
		name           string
		location       platform.Verdict
		wantDeployment string
		wantWorkload   string
	}{
		{"location mismatch", platform.LocationMismatch, "False/LocationMismatch " + platform.LocationMismatch.Message, noPlacement},
		{"ambiguous location", platform.AmbiguousServingLocation, "False/AmbiguousServingLocation " + platform.AmbiguousServingLocation.Message, noPlacement},
		{"no location", platform.NoMatchingLocation, "False/NoMatchingLocation " + platform.NoMatchingLocation.Message, noPlacement},
		{"cleared", platform.Verdict{}, provisioningView.available, provisioningView.workload},
	} {
		require.NoError(t, w.SetLocationError(t.Context(), deployment, tc.location))
		w.untilDeployment(deployment, "Available", tc.wantDeployment)
		w.untilWorkload(workload, tc.wantWorkload)
	}

	require.NoError(t, w.SetUnserved(t.Context(), deployment, true))
	unserved := `False/RuntimeClassNotServed No cell in us serves runtime class "web", so it has nowhere to run`
	w.untilDeployment(deployment, "Available", unserved)
	w.untilWorkload(workload, unserved)
	require.NoError(t, w.SetUnserved(t.Context(), deployment, false))
	w.untilDeployment(deployment, "Available", provisioningView.available)
	w.untilWorkload(workload, provisioningView.workload)
}

// TestTheFederatorLeavesWhatServesAlone (section 3.1).
func TestTheFederatorLeavesWhatServesAlone(t *testing.T) {
	w := start(t)
	w.workload("web", 1)
	deployment, instance := w.onlyDeployment(), w.instanceKeys(1)[0]
	w.untilDeployment(deployment, "Available", availableView.available)
	w.settleDeployment(instance)
	require.NoError(t, w.SetUnserved(t.Context(), deployment, true))
	annotate(w, w.getDeployment(deployment), "example.com/event", "1")
	require.Equal(t, availableView.available, computeapi.Summary(w.getDeployment(deployment).Status.Conditions, "Available"))
	require.Zero(t, w.Federator.Writes())
}

// TestBasesOfAWorkload: missing networks, placements that match nothing, and no
// location at all (section 5).
func TestBasesOfAWorkload(t *testing.T) {
	w := start(t)
	require.NoError(t, w.SetMissingNetworks(t.Context(), "default", "other"))
	workload := w.workload("web", 1)
	w.untilWorkload(workload, "False/NetworkNotFound Unable to find networks: default")
	require.Empty(t, w.deployments(), "an early return")
	require.Empty(t, w.getWorkload(workload).Status.Placements)
	require.Zero(t, computeapi.Condition(w.getWorkload(workload).Status.Conditions, "Available").ObservedGeneration)

	require.NoError(t, w.SetMissingNetworks(t.Context()))
	w.untilWorkload(workload, availableView.workload)
	served := w.getWorkload(workload).Status

	// It stands over ready Instances, and over counts that stay as they were.
	require.NoError(t, w.SetMissingNetworks(t.Context(), "default"))
	w.untilWorkload(workload, "False/NetworkNotFound Unable to find networks: default")
	require.Equal(t, served.Placements, w.getWorkload(workload).Status.Placements)
	require.Equal(t, int32(1), w.getWorkload(workload).Status.ReadyReplicas)
	require.NoError(t, w.SetMissingNetworks(t.Context()))
	w.untilWorkload(workload, availableView.workload)

	// A placement whose location is gone loses its deployment.
	require.NoError(t, w.SetLocations(t.Context(), platform.NamedLocations("eu")...))
	w.untilWorkload(workload, `False/NoMatchingLocations Placement "main" matches no location that is Ready and offers compute`)
	placement := w.getWorkload(workload).Status.Placements[0]
	require.Equal(t, "False/NoMatchingLocations No location that is Ready and offers compute matches this placement, so it has nowhere to run",
		computeapi.Summary(placement.Conditions, "Available"))
	w.instanceKeys(0)

	// Without any location a pass fails and writes nothing.
	require.NoError(t, w.SetLocations(t.Context()))
	homeless := w.workload("homeless", 1)
	require.NoError(t, w.SetLocations(t.Context(), platform.NamedLocations("us")...))
	w.untilWorkload(homeless, availableView.workload)
	w.untilWorkload(workload, availableView.workload)
}

// TestPlacementsChooseTheirLocations: by name and by city code (section 1.2).
func TestPlacementsChooseTheirLocations(t *testing.T) {
	w := start(t, func(o *platform.Options) { o.Locations = platform.NamedLocations("us", "eu", "ap") })
	key := w.workload("web", 0,
		computeapi.WithPlacement("named", 1, "us", "eu", "nowhere"),
		func(workload *computeapi.Workload) {
			workload.Spec.Placements = append(workload.Spec.Placements, computeapi.Placement{
				Name: "by-city", CityCodes: []string{"AP"}, ScaleSettings: computeapi.ScaleSettings{MinReplicas: 1},
			})
		})
	w.instanceKeys(3)
	names := map[types.NamespacedName]string{}
	for _, d := range w.deployments() {
		names[types.NamespacedName{Namespace: d.Spec.PlacementName, Name: d.Spec.LocationRef.Name}] = d.Name
	}
	workload := w.getWorkload(key)
	want := map[types.NamespacedName]string{}
	for _, at := range []types.NamespacedName{{Namespace: "named", Name: "us"}, {Namespace: "named", Name: "eu"}, {Namespace: "by-city", Name: "ap"}} {
		want[at] = platform.DeploymentName(workload.Name, workload.UID, at.Namespace, at.Name)
	}
	require.Equal(t, want, names)
}
