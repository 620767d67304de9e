package computeapi

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition returns the first condition of a type as it stands, or nil.
func Condition(conditions []metav1.Condition, conditionType string) *metav1.Condition {
	for i := range conditions {
		if conditions[i].Type == conditionType {
			return &conditions[i]
		}
	}
	return nil
}

// Summary is what a customer reads of a condition: `False/Reason message`, or
// `none` where the condition is missing. For comparing and for printing.
func Summary(conditions []metav1.Condition, conditionType string) string {
	c := Condition(conditions, conditionType)
	if c == nil {
		return "none"
	}
	return string(c.Status) + "/" + cmp.Or(c.Reason, "-") + " " + c.Message
}
