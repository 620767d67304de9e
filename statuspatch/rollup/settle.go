package rollup

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Settle makes a whole condition of a verdict. stored is the condition in the
// API server, incoming the one that another writer is about to store; the
// latter is nil where Causeway itself is the writer. Either may be nil.
//
// lastTransitionTime is the stored one where its status equals the result's,
// else the incoming one's where its status does, else now, in seconds: it
// moves when the status does, and never twice for one change.
// observedGeneration is that of the incoming condition, else of the stored one.
func Settle(stored, incoming *metav1.Condition, conditionType string, v Verdict, now time.Time) metav1.Condition {
	c := metav1.Condition{Type: conditionType, Status: v.Status, Reason: v.Reason, Message: v.Message}
	switch {
	case dates(stored, v.Status):
		c.LastTransitionTime = stored.LastTransitionTime
	case dates(incoming, v.Status):
		c.LastTransitionTime = incoming.LastTransitionTime
	default:
		c.LastTransitionTime = metav1.NewTime(now.UTC().Truncate(time.Second))
	}
	switch {
	case incoming != nil:
		c.ObservedGeneration = incoming.ObservedGeneration
	case stored != nil:
		c.ObservedGeneration = stored.ObservedGeneration
	}
	return c
}

// dates tells whether the condition knows since when the status holds. A
// condition without a time, which the API refuses, knows nothing.
func dates(c *metav1.Condition, status metav1.ConditionStatus) bool {
	return c != nil && c.Status == status && !c.LastTransitionTime.IsZero()
}

// Same tells whether storing b over a would change nothing that matters: all
// fields but lastTransitionTime are equal. A nil a equals nothing.
func Same(a *metav1.Condition, b metav1.Condition) bool {
	return a != nil && a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason &&
		a.Message == b.Message && a.ObservedGeneration == b.ObservedGeneration
}
