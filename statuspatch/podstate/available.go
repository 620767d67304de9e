package podstate

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// What a well Instance's Available says, in the providers' own words: a
// provider that writes it too writes the same.
const (
	typeAvailable    = "Available"
	reasonAvailable  = "Available"
	messageAvailable = "Instance is available"
)

// Correction is what the condition Available of an Instance has to be.
type Correction struct {
	// Governs tells that the Pod has a say. Where it has none the condition is
	// left as it is, or as it comes.
	Governs bool
	// Condition is what it has to be, whole.
	Condition metav1.Condition
	// Changes tells that this differs, lastTransitionTime aside, from the
	// incoming condition or, without one, from the stored one.
	Changes bool
}

// Correct decides on an Instance's condition Available. stored is the one in the
// API server; incoming is the one that another writer is about to store, nil
// where Causeway itself is to patch. Either may be nil. The answer depends on
// nothing else, so the patch and the webhook never take turns:
//
//   - A Pod that fails makes it False with the verdict's reason and sentence,
//     unless somebody else says something that the Pod cannot judge: that the
//     Instance is suspended, refused, waiting for quota or data, or a failure
//     that the customer is told first. The stored sentence stays while it still
//     says what is true (see Same), so a restart alone is no write.
//   - A Pod that is well takes back what Causeway said of it, and only that.
//   - A Pod that is neither holds on to it: a provider's True is not believed
//     until the Pod is well. Anything else a provider says passes.
//
// Ask only for a Pod that is there and is the Instance's: without one there is
// nothing to hold on to.
func Correct(v Verdict, stored, incoming *metav1.Condition, now time.Time) Correction {
	current := incoming
	if current == nil {
		current = stored
	}
	var want rollup.Verdict
	switch {
	case v.Standing == Failing && !outranked(v.Reason, current):
		want = rollup.Verdict{Status: metav1.ConditionFalse, Reason: v.Reason, Message: v.Sentence}
		if IsOwn(stored) && stored.Reason == v.Reason && Same(stored.Message, v.Sentence) {
			want.Message = stored.Message
		}
	case v.Standing == Well && IsOwn(current):
		want = rollup.Verdict{Status: metav1.ConditionTrue, Reason: reasonAvailable, Message: messageAvailable}
	case v.Standing == Unsettled && IsOwn(stored) && incoming != nil && incoming.Status == metav1.ConditionTrue:
		want = rollup.Verdict{Status: stored.Status, Reason: stored.Reason, Message: stored.Message}
	default:
		return Correction{}
	}
	c := rollup.Settle(stored, incoming, typeAvailable, want, now)
	return Correction{Governs: true, Condition: c, Changes: !rollup.Same(current, c)}
}

// outranked tells whether the condition says something that a Pod's failure
// must not hide.
func outranked(failure string, c *metav1.Condition) bool {
	if c == nil || c.Status == metav1.ConditionTrue || c.Reason == "" || IsOwn(c) {
		return false
	}
	if !reason.Known(c.Reason) {
		return c.Status == metav1.ConditionFalse
	}
	switch reason.RankOf(c.Reason) {
	case reason.Refused, reason.OnPurpose, reason.Quota, reason.Data:
		return true
	case reason.CustomerFix, reason.Unknown:
		return reason.Compare(c.Reason, failure) < 0
	default:
		return false
	}
}

// IsOwn tells whether a condition says in this package's words that a Pod
// fails. Nobody's signature is needed: whoever says it says it about the Pod,
// and the Pod can disprove it.
func IsOwn(c *metav1.Condition) bool {
	if c == nil || c.Status != metav1.ConditionFalse || !ownReasons[c.Reason] {
		return false
	}
	for _, opening := range openings {
		if strings.HasPrefix(c.Message, opening) {
			return true
		}
	}
	return false
}

var (
	openings   = []string{string(App) + ` "`, string(Init) + ` "`, string(Sidecar) + ` "`, thePod + " "}
	ownReasons = failureReasons(all)
)

func failureReasons(rules []Rule) map[string]bool {
	m := map[string]bool{}
	for _, r := range rules {
		if r.Reason != "" {
			m[r.Reason] = true
		}
	}
	return m
}
