package rollup

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// base is what a parent's own controller says and the children cannot tell.
type base struct {
	reason, message string
	// of names the deployment whose base it is, where that is not the very
	// object that is judged.
	of *owner
}

type owner struct{ placement, deployment string }

// compare puts the object's own, which names no owner, first.
func (o *owner) compare(other *owner) int {
	switch {
	case o == nil && other == nil:
		return 0
	case o == nil:
		return -1
	case other == nil:
		return 1
	}
	return cmp.Or(strings.Compare(o.placement, other.placement), strings.Compare(o.deployment, other.deployment))
}

// findBase reads the base out of a parent's own condition: it is False, for a
// reason that this kind's controller gives of its own accord or that nobody
// knows, and not a sentence of Causeway's. A reason below Working is the same
// as no base at all. Nil where there is none.
func findBase(c *metav1.Condition, saidBy func(string) bool) *base {
	if b := asBase(c); b != nil && saidBy(b.reason) && !InGrammar(b.reason, b.message) {
		return b
	}
	return nil
}

// asBase takes a False condition for a base whoever wrote it: the condition of
// a carried deployment is all there is to know of it. A reason that the API
// would refuse is never passed on.
func asBase(c *metav1.Condition) *base {
	if c == nil || c.Status != metav1.ConditionFalse ||
		!reason.Valid(c.Reason) || reason.RankOf(c.Reason) < reason.Working {
		return nil
	}
	return &base{reason: c.Reason, message: bounded(c.Message)}
}

// leads tells whether the base is told rather than the ranked failures. Of
// equal reasons the base comes first.
func (b *base) leads(ranked []Failure) bool {
	return b != nil && (len(ranked) == 0 || reason.Compare(b.reason, ranked[0].Reason) <= 0)
}

// before orders bases: by reason, then the object's own, then by placement and
// name of the deployment.
func (b *base) before(other *base) bool {
	if b == nil || other == nil {
		return b != nil
	}
	return cmp.Or(
		reason.Compare(b.reason, other.reason),
		b.of.compare(other.of),
		strings.Compare(b.reason, other.reason), // an alias beside its newer name
		strings.Compare(b.message, other.message),
	) < 0
}

// verdict writes the base as it stands, alone. A deployment's is told by the
// placement it belongs to.
func (b *base) verdict() Verdict {
	message := b.message
	if b.of != nil {
		message = placementPrefix(b.of.placement) + ": " + b.text()
	}
	return Verdict{metav1.ConditionFalse, b.reason, message}
}

// text is the base's message as part of a longer sentence, never empty.
func (b *base) text() string {
	if text := Clean(b.message, MaxBase); text != "" {
		return text
	}
	return b.reason
}

func placementPrefix(name string) string { return "placement " + quoted(name) }
