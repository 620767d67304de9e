package main

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// state is what an Instance's conditions say, and what a parent says of it.
type state struct {
	status metav1.ConditionStatus
	reason string
	// message is the Instance's, with %d for what tells one write from another, or
	// a parent's whole.
	message string
	// phrase and phrases are what a parent says of one and of several of its
	// Instances, before the message.
	phrase, phrases string
}

var (
	crashing     = state{metav1.ConditionFalse, "InstanceCrashing", `container "app" keeps exiting (last exit code %d)`, "is repeatedly exiting and restarting", "are repeatedly exiting and restarting"}
	lacksImage   = state{metav1.ConditionFalse, "ImageUnavailable", `image "registry.example/app:%d" was not found`, "could not pull its image", "could not pull their image"}
	ready        = state{metav1.ConditionTrue, "Available", "Instance is ready", "", ""}
	granted      = state{metav1.ConditionTrue, "QuotaAvailable", "Quota is available", "", ""}
	provisioning = state{metav1.ConditionFalse, "InstancesProvisioning", "Instances are being provisioned", "", ""}
)

// failure is how an Instance fails on its so-manieth turn. Neighbours differ.
func failure(n, turn int) (state, string) {
	s := []state{crashing, lacksImage}[(n+turn)%2]
	return s, fmt.Sprintf(s.message, turn)
}

// one is what a parent says whose only Instance fails with that detail.
func (s state) one(detail string) string { return "1 of 1 instances " + s.phrase + ": " + detail + "." }

// instancePatch is a merge patch of an Instance's conditions.
func instancePatch(s state, detail string, quota metav1.Condition) ([]byte, error) {
	now := metav1.Now()
	return json.Marshal(map[string]any{"status": map[string]any{"conditions": []metav1.Condition{
		condition(computeapi.ProgrammedCondition, now, s, detail),
		condition(computeapi.AvailableCondition, now, s, detail),
		condition(computeapi.ReadyCondition, now, s, detail),
		quota,
	}}})
}

func condition(conditionType string, since metav1.Time, s state, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: s.status, Reason: s.reason, Message: message, LastTransitionTime: since}
}

// deploymentStatus is a deployment's whole status.
func deploymentStatus(replicas int32, since metav1.Time, s state, message string) computeapi.WorkloadDeploymentStatus {
	return computeapi.WorkloadDeploymentStatus{
		Replicas: replicas, DesiredReplicas: replicas,
		Conditions: []metav1.Condition{
			condition(computeapi.AvailableCondition, since, s, message),
			condition(computeapi.ReplicasReadyCondition, since, s, fmt.Sprintf("0/%d replicas available", replicas)),
		},
	}
}

// workloadStatus is a Workload's whole status, with its placements.
func workloadStatus(deployments int, replicas int32, firstDeployment int, since metav1.Time, s state, message string) computeapi.WorkloadStatus {
	status := computeapi.WorkloadStatus{
		Deployments: int32(deployments), Replicas: int32(deployments) * replicas, DesiredReplicas: int32(deployments) * replicas,
		Conditions: []metav1.Condition{condition(computeapi.AvailableCondition, since, s, message)},
	}
	for d := firstDeployment; d < firstDeployment+deployments; d++ {
		status.Placements = append(status.Placements, computeapi.PlacementStatus{
			Name: placementName(d), Replicas: replicas, DesiredReplicas: replicas,
			Locations:  []computeapi.LocationReference{{Name: "us"}},
			Conditions: []metav1.Condition{condition(computeapi.AvailableCondition, since, s, message)},
		})
	}
	return status
}
