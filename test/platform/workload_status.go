package platform

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// workloadPriority ranks the reasons of deployments that a Workload repeats.
// All others are 0 and never shown (section 5): that is the platform's lie.
var workloadPriority = map[string]int{
	"RuntimeClassNotServed":  7,
	"NetworkNotFound":        6,
	"NoMatchingLocations":    6,
	"SourceNotFound":         5,
	"SourceTooLarge":         5,
	"SourceUnauthorized":     5,
	"ReferencedDataNotReady": 4,
	"AwaitingPropagation":    4,
	"Resolving":              4,
	"QuotaNotGranted":        3,
	"PendingQuota":           3,
	"NetworkProvisioning":    2,
	"InstancesProvisioning":  1,
}

// setWorkloadStatus computes the status from the deployments, which come
// sorted by name (section 5).
func setWorkloadStatus(workload *computeapi.Workload, deployments []computeapi.WorkloadDeployment) {
	byPlacement := map[string][]computeapi.WorkloadDeployment{}
	for _, placement := range workload.Spec.Placements {
		byPlacement[placement.Name] = nil
	}
	for _, deployment := range deployments {
		name := deployment.Spec.PlacementName
		byPlacement[name] = append(byPlacement[name], deployment)
	}

	status := &workload.Status
	old := status.Placements
	*status = computeapi.WorkloadStatus{
		Conditions: status.Conditions, Gateway: status.Gateway,
		Deployments: int32(len(deployments)), ObservedGeneration: workload.Generation,
	}

	available := Verdict{metav1.ConditionFalse, "NoAvailablePlacements", "No available placements were found for the workload"}
	worst, served := 0, false
	for _, name := range slices.Sorted(maps.Keys(byPlacement)) {
		placement := placementStatus(name, byPlacement[name], old)
		status.Placements = append(status.Placements, placement)
		status.Replicas += placement.Replicas
		status.CurrentReplicas += placement.CurrentReplicas
		status.UpdatedReplicas += placement.UpdatedReplicas
		status.DesiredReplicas += placement.DesiredReplicas
		status.ReadyReplicas += placement.ReadyReplicas

		served = served || computeapi.Condition(placement.Conditions, computeapi.AvailableCondition).Status == metav1.ConditionTrue
		for _, candidate := range complaints(name, byPlacement[name]) {
			if p := workloadPriority[candidate.Reason]; p > worst {
				worst, available = p, candidate
			}
		}
	}
	if served {
		available = Verdict{metav1.ConditionTrue, "AvailablePlacementFound", "At least one available placement was found"}
	}
	available.set(&status.Conditions, computeapi.AvailableCondition, workload.Generation)
}

// complaints returns why the deployments of a placement are not available.
func complaints(placement string, deployments []computeapi.WorkloadDeployment) []Verdict {
	if len(deployments) == 0 {
		return []Verdict{{metav1.ConditionFalse, "NoMatchingLocations",
			fmt.Sprintf("Placement %q matches no location that is Ready and offers compute", placement)}}
	}
	var found []Verdict
	for _, deployment := range deployments {
		v := verdictOf(computeapi.Condition(deployment.Status.Conditions, computeapi.AvailableCondition))
		if v.Status != metav1.ConditionTrue {
			v.Status = metav1.ConditionFalse
			found = append(found, v)
		}
	}
	return found
}

// placementStatus sums up the deployments of one placement. The reason of a
// deployment is not copied to it; conditions of other types stay.
func placementStatus(name string, deployments []computeapi.WorkloadDeployment, old []computeapi.PlacementStatus) computeapi.PlacementStatus {
	placement := computeapi.PlacementStatus{Name: name}
	for i := range old {
		if old[i].Name == name {
			placement.Conditions = old[i].Conditions
		}
	}

	available := Verdict{metav1.ConditionFalse, "NoAvailableDeployments", "No available deployments were found for the placement"}
	if len(deployments) == 0 {
		available.Reason = "NoMatchingLocations"
		available.Message = "No location that is Ready and offers compute matches this placement, so it has nowhere to run"
	}
	for _, deployment := range deployments {
		placement.Locations = append(placement.Locations, locationOf(&deployment))
		placement.Replicas += deployment.Status.Replicas
		placement.CurrentReplicas += deployment.Status.CurrentReplicas
		placement.UpdatedReplicas += deployment.Status.UpdatedReplicas
		placement.DesiredReplicas += deployment.Status.DesiredReplicas
		placement.ReadyReplicas += deployment.Status.ReadyReplicas
		if verdictOf(computeapi.Condition(deployment.Status.Conditions, computeapi.AvailableCondition)).Status == metav1.ConditionTrue {
			available = Verdict{metav1.ConditionTrue, "AvailableDeploymentFound", "At least one available deployment was found"}
		}
	}
	available.set(&placement.Conditions, computeapi.AvailableCondition, 0)
	return placement
}

func locationOf(deployment *computeapi.WorkloadDeployment) computeapi.LocationReference {
	if deployment.Spec.LocationRef == nil {
		return computeapi.LocationReference{Name: deployment.Spec.CityCode}
	}
	return *deployment.Spec.LocationRef
}
