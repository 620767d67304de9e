package platform

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Verdict is what a condition says, without its type and bookkeeping.
type Verdict struct {
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}

// verdictOf returns what a condition says, and the zero Verdict for nil.
func verdictOf(c *metav1.Condition) Verdict {
	if c == nil {
		return Verdict{}
	}
	return Verdict{c.Status, c.Reason, c.Message}
}

// set stores the verdict as the platform does: unknown condition types stay,
// and lastTransitionTime moves only with the status. It takes the generation
// to observe, 0 for a condition that carries none.
func (v Verdict) set(conditions *[]metav1.Condition, conditionType string, generation int64) {
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: conditionType, Status: v.Status, Reason: v.Reason, Message: v.Message, ObservedGeneration: generation,
	})
}
