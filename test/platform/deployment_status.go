package platform

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// deploymentPriority ranks the candidates for a deployment's Available
// (section 4). Every reason it does not know is 0, those of failing Instances
// included.
var deploymentPriority = map[string]int{
	"LocationMismatch":         8,
	"AmbiguousServingLocation": 8,
	"NetworkFailedToCreate":    7,
	"NetworkNotFound":          6,
	"SourceNotFound":           5,
	"SourceUnauthorized":       5,
	"SourceTooLarge":           5,
	"SourceNameTooLong":        5,
	"ReferencedDataNotReady":   4,
	"AwaitingPropagation":      4,
	"Resolving":                4,
	"QuotaNotGranted":          3,
	"PendingQuota":             3,
	"NoMatchingLocation":       2,
	"NetworkProvisioning":      2,
	"InstancesProvisioning":    1,
}

// deploymentFacts is all that the deployment controller looks at. It never
// reads why an Instance is not Ready.
type deploymentFacts struct {
	instances []computeapi.Instance
	hash      string
	// locationError is why the location cannot be resolved, or zero.
	locationError Verdict
	// networkWaiting tells that some Instance's network is not ready.
	networkWaiting bool
}

// setDeploymentStatus computes the status from the facts (section 4).
func setDeploymentStatus(deployment *computeapi.WorkloadDeployment, facts deploymentFacts) {
	status := &deployment.Status
	desired := deployment.DesiredReplicas()
	*status = computeapi.WorkloadDeploymentStatus{
		Conditions: status.Conditions, Suspended: status.Suspended, Location: status.Location,
		Replicas: int32(len(facts.instances)), DesiredReplicas: desired,
		Selector:           computeapi.WorkloadDeploymentUIDLabel + "=" + string(deployment.UID),
		ObservedGeneration: deployment.Generation,
	}
	var quota, data int32
	for i := range facts.instances {
		instance := &facts.instances[i]
		says := func(conditionType string, is metav1.ConditionStatus) bool {
			return verdictOf(computeapi.Condition(instance.Status.Conditions, conditionType)).Status == is
		}
		if control := instance.Status.Controller; control != nil && control.ObservedTemplateHash == facts.hash {
			status.UpdatedReplicas++
			if says(computeapi.ProgrammedCondition, metav1.ConditionTrue) {
				status.CurrentReplicas++
			}
		}
		if says(computeapi.ReadyCondition, metav1.ConditionTrue) {
			status.ReadyReplicas++
		}
		if says(computeapi.QuotaGrantedCondition, metav1.ConditionFalse) {
			quota++
		}
		if says(computeapi.ReferencedDataReadyCondition, metav1.ConditionFalse) {
			data++
		}
	}

	replicasReady(status, quota, data).set(&status.Conditions, computeapi.ReplicasReadyCondition, 0)
	deploymentAvailable(deployment, facts, quota, data).
		set(&status.Conditions, computeapi.AvailableCondition, deployment.Generation)
}

// replicasReady means no more than "nothing is blocked by quota or data": ready
// is never compared with desired, so it says True with 0/1 (section 4).
func replicasReady(status *computeapi.WorkloadDeploymentStatus, quota, data int32) Verdict {
	switch {
	case quota > 0:
		return Verdict{metav1.ConditionFalse, "QuotaExceeded",
			fmt.Sprintf("%d of %d desired replicas are pending quota", quota, status.DesiredReplicas)}
	case data > 0:
		return Verdict{metav1.ConditionFalse, "AwaitingPropagation",
			fmt.Sprintf("%d of %d desired replicas are waiting for referenced data companions", data, status.DesiredReplicas)}
	default:
		return Verdict{metav1.ConditionTrue, "ReplicasAvailable",
			fmt.Sprintf("%d/%d replicas available", status.ReadyReplicas, status.DesiredReplicas)}
	}
}

// deploymentAvailable is True with one Instance Ready, else the first of the
// best candidates (section 4).
func deploymentAvailable(deployment *computeapi.WorkloadDeployment, facts deploymentFacts, quota, data int32) Verdict {
	status := &deployment.Status
	if status.ReadyReplicas > 0 {
		return Verdict{metav1.ConditionTrue, "StableInstanceFound",
			fmt.Sprintf("%d/%d instances are ready", status.ReadyReplicas, status.Replicas)}
	}

	var best Verdict
	consider := func(reason, message string) {
		if best.Reason == "" || deploymentPriority[reason] > deploymentPriority[best.Reason] {
			best = Verdict{metav1.ConditionFalse, reason, message}
		}
	}
	if facts.locationError.Reason != "" {
		consider(facts.locationError.Reason, facts.locationError.Message)
	}
	if facts.networkWaiting {
		consider("NetworkProvisioning", "Network is being provisioned")
	}
	resolved := verdictOf(computeapi.Condition(status.Conditions, computeapi.ReferencedDataReadyCondition))
	if resolved.Status == metav1.ConditionFalse {
		consider("ReferencedDataNotReady", resolved.Message)
	}
	if reason, message := referencedDataError(deployment); reason != "" {
		consider(reason, message)
	}
	if quota > 0 {
		consider("QuotaNotGranted", fmt.Sprintf("%d of %d desired instances pending quota", quota, status.DesiredReplicas))
	}
	if data > 0 && resolved.Status != metav1.ConditionFalse {
		consider("ReferencedDataNotReady",
			fmt.Sprintf("%d of %d desired instances waiting for companion propagation", data, status.DesiredReplicas))
	}
	if len(facts.instances) > 0 {
		consider("InstancesProvisioning", "Instances are being provisioned")
	} else {
		consider("InstancesProvisioning", "No instances available yet")
	}
	return best
}

// referencedDataError reads the annotation of the referenced-data resolver.
func referencedDataError(deployment *computeapi.WorkloadDeployment) (reason, message string) {
	var said struct{ Reason, Message string }
	// What does not decode says nothing.
	_ = json.Unmarshal([]byte(deployment.Annotations[computeapi.ReferencedDataErrorAnnotation]), &said)
	return said.Reason, said.Message
}
