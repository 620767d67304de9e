package platform

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// deploymentSaying returns a deployment of a placement with one condition.
func deploymentSaying(placement string, status metav1.ConditionStatus, reason string) computeapi.WorkloadDeployment {
	var d computeapi.WorkloadDeployment
	d.Spec.PlacementName = placement
	d.Spec.LocationRef = &computeapi.LocationReference{Name: "us"}
	if reason != "" {
		Verdict{status, reason, "said by " + placement}.set(&d.Status.Conditions, computeapi.AvailableCondition, 1)
	}
	return d
}

func TestWorkloadAnswersAreLossy(t *testing.T) {
	none := Verdict{metav1.ConditionFalse, "NoAvailablePlacements", "No available placements were found for the workload"}
	repeated := func(reason string) Verdict { return Verdict{metav1.ConditionFalse, reason, "said by a"} }

	// The reasons of section 5 that are repeated, and those that are dropped.
	cases := map[string]Verdict{"": none}
	for _, reason := range []string{
		"RuntimeClassNotServed", "NetworkNotFound", "SourceNotFound", "SourceTooLarge", "SourceUnauthorized",
		"ReferencedDataNotReady", "QuotaNotGranted", "NetworkProvisioning", "InstancesProvisioning",
	} {
		cases[reason] = repeated(reason)
	}
	for _, reason := range []string{
		"ImageUnavailable", "InstanceCrashing", "ConfigurationError", "SourceNameTooLong", "NetworkFailedToCreate",
		"NoMatchingLocation", "LocationMismatch", "AmbiguousServingLocation", "SomethingNew",
	} {
		cases[reason] = none
	}
	for reason, want := range cases {
		t.Run("reason "+reason, func(t *testing.T) {
			w := computeapi.NewWorkload("default", "web", computeapi.WithPlacement("a", 1, "us"))
			w.Generation = 7
			setWorkloadStatus(w, []computeapi.WorkloadDeployment{deploymentSaying("a", metav1.ConditionFalse, reason)})

			c := computeapi.Condition(w.Status.Conditions, computeapi.AvailableCondition)
			require.Equal(t, want, verdictOf(c))
			require.Equal(t, int64(7), c.ObservedGeneration)
			placement := computeapi.Condition(w.Status.Placements[0].Conditions, computeapi.AvailableCondition)
			require.Equal(t, Verdict{metav1.ConditionFalse, "NoAvailableDeployments", "No available deployments were found for the placement"}, verdictOf(placement))
			require.Zero(t, placement.ObservedGeneration)
		})
	}
}

func TestWorkloadOfSeveralPlacements(t *testing.T) {
	for name, tc := range map[string]struct {
		deployments []computeapi.WorkloadDeployment
		want        Verdict
	}{
		"one available hides every failure": {
			[]computeapi.WorkloadDeployment{
				deploymentSaying("a", metav1.ConditionFalse, "RuntimeClassNotServed"),
				deploymentSaying("b", metav1.ConditionTrue, "StableInstanceFound"),
			},
			Verdict{metav1.ConditionTrue, "AvailablePlacementFound", "At least one available placement was found"},
		},
		"the worst of several": {
			[]computeapi.WorkloadDeployment{
				deploymentSaying("a", metav1.ConditionFalse, "InstancesProvisioning"),
				deploymentSaying("b", metav1.ConditionFalse, "QuotaNotGranted"),
			},
			Verdict{metav1.ConditionFalse, "QuotaNotGranted", "said by b"},
		},
		"a dropped reason loses to a lesser one": {
			[]computeapi.WorkloadDeployment{
				deploymentSaying("a", metav1.ConditionFalse, "LocationMismatch"),
				deploymentSaying("b", metav1.ConditionFalse, "InstancesProvisioning"),
			},
			Verdict{metav1.ConditionFalse, "InstancesProvisioning", "said by b"},
		},
		"the first of equals": {
			[]computeapi.WorkloadDeployment{
				deploymentSaying("a", metav1.ConditionFalse, "SourceNotFound"),
				deploymentSaying("b", metav1.ConditionFalse, "SourceTooLarge"),
			},
			Verdict{metav1.ConditionFalse, "SourceNotFound", "said by a"},
		},
		"a placement without deployments": {
			[]computeapi.WorkloadDeployment{deploymentSaying("b", metav1.ConditionFalse, "SourceNotFound")},
			Verdict{metav1.ConditionFalse, "NoMatchingLocations", `Placement "a" matches no location that is Ready and offers compute`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := computeapi.NewWorkload("default", "web",
				computeapi.WithPlacement("b", 1, "us"), computeapi.WithPlacement("a", 1, "us"))
			setWorkloadStatus(w, tc.deployments)
			require.Equal(t, tc.want, verdictOf(computeapi.Condition(w.Status.Conditions, computeapi.AvailableCondition)))
			require.Equal(t, "a", w.Status.Placements[0].Name, "placements are sorted by name")
		})
	}
}

func TestWorkloadCountsAreSumsAndPlacementsOutliveTheSpec(t *testing.T) {
	count := func(placement string, n int32) computeapi.WorkloadDeployment {
		d := deploymentSaying(placement, metav1.ConditionFalse, "InstancesProvisioning")
		d.Status.Replicas, d.Status.CurrentReplicas, d.Status.UpdatedReplicas = n, n+1, n+2
		d.Status.DesiredReplicas, d.Status.ReadyReplicas = n+3, n+4
		return d
	}
	w := computeapi.NewWorkload("default", "web", computeapi.WithPlacement("a", 1, "us"))
	setWorkloadStatus(w, []computeapi.WorkloadDeployment{count("a", 1), count("a", 10), count("gone", 100)})

	require.Equal(t, []int32{3, 111, 114, 117, 120, 123}, []int32{
		w.Status.Deployments, w.Status.Replicas, w.Status.CurrentReplicas,
		w.Status.UpdatedReplicas, w.Status.DesiredReplicas, w.Status.ReadyReplicas,
	})
	require.Len(t, w.Status.Placements, 2)
	require.Equal(t, int32(11), w.Status.Placements[0].Replicas)
	require.Equal(t, "gone", w.Status.Placements[1].Name)
	require.Equal(t, int32(100), w.Status.Placements[1].Replicas)
}
