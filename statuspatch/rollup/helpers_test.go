package rollup_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// cond is a condition in short. status is "True", "False", "Unknown" or odd.
func cond(conditionType, status, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: metav1.ConditionStatus(status), Reason: reason, Message: message}
}

// says is an Available condition that is False.
func says(reason, message string) *metav1.Condition {
	c := cond("Available", "False", reason, message)
	return &c
}

// fails are count Instances with a reason whose representative has the ordinal
// and the message.
func fails(reason string, count, ordinal int, message string) rollup.Failure {
	return rollup.Failure{Reason: reason, Count: count, Message: message,
		Representative: rollup.Member{Ordinal: ordinal, Name: "web"}}
}

// tally adds Instances that are ready and failures to others that make
// progress.
func tally(ready, progressing int, failures ...rollup.Failure) rollup.Tally {
	n := ready + progressing
	for _, f := range failures {
		n += f.Count
	}
	return rollup.Tally{Seen: n, Counted: n, Ready: ready, Failures: failures}
}

func isFalse(reason, message string) rollup.Verdict {
	return rollup.Verdict{Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

func isTrue(reason, message string) rollup.Verdict {
	return rollup.Verdict{Status: metav1.ConditionTrue, Reason: reason, Message: message}
}
