package platform

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

var epoch = metav1.Unix(0, 0)

// stamped is a condition as the CRD's default stamps it.
func stamped(conditionType string, v Verdict) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: v.Status, Reason: v.Reason, Message: v.Message, LastTransitionTime: epoch,
	}
}

var waiting = Verdict{metav1.ConditionUnknown, "Pending", "Waiting for controller"}

// newInstanceFor returns an Instance of generation 3 without gates that says
// what the CRD's defaults and then the tweaks say.
func newInstanceFor(tweaks ...func(*computeapi.Instance)) *computeapi.Instance {
	instance := &computeapi.Instance{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
	instance.Spec.Controller = &computeapi.InstanceSpecControl{TemplateHash: "1"}
	for _, conditionType := range []string{computeapi.ProgrammedCondition, computeapi.AvailableCondition, computeapi.ReadyCondition} {
		instance.Status.Conditions = append(instance.Status.Conditions, stamped(conditionType, waiting))
	}
	instance.Status.Conditions = append(instance.Status.Conditions, stamped(computeapi.QuotaGrantedCondition, QuotaAvailable))
	for _, tweak := range tweaks {
		tweak(instance)
	}
	return instance
}

func says(conditionType string, v Verdict) func(*computeapi.Instance) {
	return func(i *computeapi.Instance) { v.set(&i.Status.Conditions, conditionType, i.Generation) }
}

func gatedBy(names ...string) func(*computeapi.Instance) {
	return func(i *computeapi.Instance) {
		for _, name := range names {
			i.Spec.Controller.SchedulingGates = append(i.Spec.Controller.SchedulingGates, computeapi.SchedulingGate{Name: name})
		}
	}
}

func TestReadyFollowsTheFirstRuleThatFits(t *testing.T) {
	programmed := says(computeapi.ProgrammedCondition, Verdict{metav1.ConditionTrue, "Programmed", "Instance is programmed"})
	for name, tc := range map[string]struct {
		instance       *computeapi.Instance
		networkFailure string
		want           Verdict
	}{
		"suspended beats everything": {
			instance: newInstanceFor(func(i *computeapi.Instance) { i.Status.Suspended = true },
				says(computeapi.QuotaGrantedCondition, QuotaExceeded), gatedBy("Quota")),
			want: Verdict{metav1.ConditionFalse, "Suspended", "Instance is suspended due to project suspension."},
		},
		"denied quota without gates": {
			instance: newInstanceFor(programmed, says(computeapi.QuotaGrantedCondition, QuotaExceeded)),
			want:     Verdict{metav1.ConditionFalse, "PendingQuota", "Quota exceeded"},
		},
		"gates alone": {
			instance: newInstanceFor(gatedBy("Network", "Quota")),
			want:     Verdict{metav1.ConditionFalse, "SchedulingGatesPresent", "Scheduling gates present: Network, Quota"},
		},
		"denied quota beats gates": {
			instance: newInstanceFor(gatedBy("Quota"), says(computeapi.QuotaGrantedCondition, QuotaExceeded)),
			want:     Verdict{metav1.ConditionFalse, "PendingQuota", "Quota exceeded"},
		},
		"quota without a budget is no denial": {
			instance: newInstanceFor(gatedBy("Quota"), says(computeapi.QuotaGrantedCondition, QuotaNoBudget)),
			want:     Verdict{metav1.ConditionFalse, "SchedulingGatesPresent", "Scheduling gates present: Quota"},
		},
		"referenced data beats denied quota, and may be Unknown": {
			instance: newInstanceFor(gatedBy("Quota", "ReferencedData"),
				says(computeapi.QuotaGrantedCondition, QuotaExceeded), says(computeapi.ReferencedDataReadyCondition, DataResolving)),
			want: DataResolving,
		},
		"a failed network beats referenced data": {
			instance:       newInstanceFor(gatedBy("Network", "ReferencedData"), says(computeapi.ReferencedDataReadyCondition, DataMissing)),
			networkFailure: NetworkFailed("eth0", "NoAddress", "the subnet is full").failure(),
			want:           Verdict{metav1.ConditionFalse, "NetworkFailedToCreate", `Interface "eth0": NoAddress: the subnet is full`},
		},
		"a failed network without gates says nothing": {
			instance:       newInstanceFor(),
			networkFailure: "full",
			want:           Verdict{metav1.ConditionFalse, "PendingProgramming", "Instance has not been programmed"},
		},
		"not programmed yet": {
			instance: newInstanceFor(),
			want:     Verdict{metav1.ConditionFalse, "PendingProgramming", "Instance has not been programmed"},
		},
		"a failure of Available wins over Programmed, with its status": {
			instance: newInstanceFor(
				says(computeapi.ProgrammedCondition, Verdict{metav1.ConditionUnknown, "ProgrammingInProgress", "p"}),
				says(computeapi.AvailableCondition, Verdict{metav1.ConditionUnknown, "ImageUnavailable", "a"})),
			want: Verdict{metav1.ConditionUnknown, "ImageUnavailable", "a"},
		},
		"of equals Programmed stays": {
			instance: newInstanceFor(
				says(computeapi.ProgrammedCondition, Verdict{metav1.ConditionFalse, "Stopped", "p"}),
				says(computeapi.AvailableCondition, Verdict{metav1.ConditionFalse, "Failed", "a"})),
			want: Verdict{metav1.ConditionFalse, "Stopped", "p"},
		},
		"a type nobody knows competes": {
			instance: newInstanceFor(says("Foreign", Verdict{metav1.ConditionFalse, "ConfigurationError", "f"})),
			want:     Verdict{metav1.ConditionFalse, "ConfigurationError", "f"},
		},
		"QuotaGranted does not compete": {
			instance: newInstanceFor(says(computeapi.QuotaGrantedCondition, Verdict{metav1.ConditionUnknown, "PendingQuota", "q"})),
			want:     Verdict{metav1.ConditionFalse, "PendingProgramming", "Instance has not been programmed"},
		},
		"programmed, Available still Pending": {
			instance: newInstanceFor(programmed),
			want:     Verdict{metav1.ConditionFalse, "Pending", "Instance is not available"},
		},
		"programmed and crashing": {
			instance: newInstanceFor(programmed, says(computeapi.AvailableCondition, Verdict{metav1.ConditionFalse, "InstanceCrashing", "c"})),
			want:     Verdict{metav1.ConditionFalse, "InstanceCrashing", "c"},
		},
		"both True": {
			instance: newInstanceFor(programmed, says(computeapi.AvailableCondition, Verdict{metav1.ConditionTrue, "Available", "a"})),
			want:     Verdict{metav1.ConditionTrue, "Available", "Instance is ready"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			setReady(tc.instance, tc.networkFailure)
			ready := computeapi.Condition(tc.instance.Status.Conditions, computeapi.ReadyCondition)
			require.Equal(t, tc.want, verdictOf(ready))

			// Only rules 1 and 2 make a new condition; the others change the
			// stored one in place, so its age is a lie.
			fresh := tc.want.Reason == "Suspended" || tc.want.Reason == "PendingQuota" && len(tc.instance.Gates()) == 0
			if fresh {
				require.Equal(t, tc.instance.Generation, ready.ObservedGeneration)
				require.NotEqual(t, epoch, ready.LastTransitionTime)
			} else {
				require.Zero(t, ready.ObservedGeneration)
				require.Equal(t, epoch, ready.LastTransitionTime)
			}
		})
	}
}

func TestDeniedQuotaFailsProgrammedAndAvailableToo(t *testing.T) {
	for name, gates := range map[string][]string{"with its gate": {"Quota"}, "without gates": nil} {
		t.Run(name, func(t *testing.T) {
			instance := newInstanceFor(gatedBy(gates...), says(computeapi.QuotaGrantedCondition, QuotaExceeded))
			setReady(instance, "")
			for _, conditionType := range []string{computeapi.ProgrammedCondition, computeapi.AvailableCondition} {
				c := computeapi.Condition(instance.Status.Conditions, conditionType)
				require.Equal(t, Verdict{metav1.ConditionFalse, "PendingQuota", "Quota exceeded"}, verdictOf(c))
				require.Equal(t, instance.Generation, c.ObservedGeneration)
			}
		})
	}
}
