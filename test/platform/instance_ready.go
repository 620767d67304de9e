package platform

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// readyPriority ranks what competes for Ready (section 3.3); all else is 0.
var readyPriority = map[string]int{
	"NetworkFailedToCreate":  7,
	"ImageUnavailable":       5,
	"InstanceCrashing":       5,
	"ConfigurationError":     5,
	"SourceNotFound":         5,
	"SourceUnauthorized":     5,
	"SourceTooLarge":         5,
	"SourceNameTooLong":      5,
	"ReferencedDataNotReady": 4,
	"AwaitingPropagation":    4,
	"Resolving":              4,
	"PendingQuota":           3,
	"Provisioning":           1,
}

// setReady derives Ready from everything else: the first rule that fits
// (section 3.3). networkFailure is why the network could not be made, or empty.
func setReady(instance *computeapi.Instance, networkFailure string) {
	conditions := &instance.Status.Conditions
	says := func(conditionType string) Verdict { return verdictOf(computeapi.Condition(*conditions, conditionType)) }
	quota, programmed, available := says(computeapi.QuotaGrantedCondition), says(computeapi.ProgrammedCondition), says(computeapi.AvailableCondition)
	denied := Verdict{metav1.ConditionFalse, "PendingQuota", quota.Message}
	gates := instance.Gates()

	switch {
	case instance.Status.Suspended:
		Verdict{metav1.ConditionFalse, "Suspended", "Instance is suspended and not serving traffic."}.
			set(conditions, computeapi.AvailableCondition, instance.Generation)
		Verdict{metav1.ConditionFalse, "Suspended", "Instance is suspended due to project suspension."}.
			set(conditions, computeapi.ReadyCondition, instance.Generation)
	case quota.Status == metav1.ConditionFalse && len(gates) == 0:
		for _, conditionType := range []string{computeapi.ProgrammedCondition, computeapi.AvailableCondition, computeapi.ReadyCondition} {
			denied.set(conditions, conditionType, instance.Generation)
		}
	case len(gates) > 0:
		if quota.Status == metav1.ConditionFalse {
			denied.set(conditions, computeapi.ProgrammedCondition, instance.Generation)
			denied.set(conditions, computeapi.AvailableCondition, instance.Generation)
		}
		carryReady(conditions, readyWhileGated(gates, quota, says(computeapi.ReferencedDataReadyCondition), networkFailure))
	case programmed.Status != metav1.ConditionTrue:
		carryReady(conditions, readyWhileUnprogrammed(*conditions, programmed))
	case available.Status != metav1.ConditionTrue:
		if available.Reason == "" || available.Reason == "Pending" {
			available = Verdict{metav1.ConditionFalse, "Pending", "Instance is not available"}
		}
		carryReady(conditions, available)
	default:
		carryReady(conditions, Verdict{metav1.ConditionTrue, "Available", "Instance is ready"})
	}
}

// readyWhileGated is rule 3: the best of what keeps the gates up.
func readyWhileGated(gates []string, quota, data Verdict, networkFailure string) Verdict {
	best := Verdict{metav1.ConditionFalse, "SchedulingGatesPresent", "Scheduling gates present: " + strings.Join(gates, ", ")}
	consider := func(v Verdict) {
		if readyPriority[v.Reason] > readyPriority[best.Reason] {
			best = v
		}
	}
	if quota.Status == metav1.ConditionFalse {
		consider(Verdict{metav1.ConditionFalse, "PendingQuota", quota.Message})
	}
	if data.Status != metav1.ConditionTrue {
		consider(data)
	}
	if networkFailure != "" {
		consider(Verdict{metav1.ConditionFalse, "NetworkFailedToCreate", networkFailure})
	}
	return best
}

// readyWhileUnprogrammed is rule 4: every condition that is not True competes,
// types that the controller does not know included. The winner's status is
// copied too, so Ready can be Unknown.
func readyWhileUnprogrammed(conditions []metav1.Condition, programmed Verdict) Verdict {
	best := Verdict{metav1.ConditionFalse, "PendingProgramming", "Instance has not been programmed"}
	if !slices.Contains([]string{"", "Pending", "PendingProgramming"}, programmed.Reason) {
		best = programmed
	}
	for i := range conditions {
		v := verdictOf(&conditions[i])
		switch {
		case conditions[i].Type == computeapi.ReadyCondition, conditions[i].Type == computeapi.QuotaGrantedCondition,
			v.Status == metav1.ConditionTrue, v.Reason == "Pending":
		case readyPriority[v.Reason] > readyPriority[best.Reason]:
			best = v
		}
	}
	return best
}

// carryReady changes the stored Ready in place: its observedGeneration and its
// lastTransitionTime stay what they were, usually none and 1970, even when the
// status flips (section 3.3, notes). Nobody can tell its age by them.
func carryReady(conditions *[]metav1.Condition, v Verdict) {
	if ready := computeapi.Condition(*conditions, computeapi.ReadyCondition); ready != nil {
		ready.Status, ready.Reason, ready.Message = v.Status, v.Reason, v.Message
		return
	}
	v.set(conditions, computeapi.ReadyCondition, 0)
}
