package rollup

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// The Instance conditions that are read. All others are ignored whatever they
// say: Degraded=False is no failure.
const (
	typeReady     = "Ready"
	typeAvailable = "Available"
	typeRunning   = "Running" // the older name of Available
	typeProgram   = "Programmed"
	typeQuota     = "QuotaGranted"
	typeData      = "ReferencedDataReady"
)

// ReadInstance tells what an Instance adds to its parents, from its conditions
// in any order. A missing condition says nothing, of repeated ones the first
// counts, and a status other than True, False and Unknown reads as Unknown.
//
// Ready: the condition Ready is True, its reason is no failure, and neither
// Available nor Programmed contradicts it. Providers write those two first and
// Ready follows, so a stale Ready=True is common.
//
// Not ready: the reason that is highest in the table of package reason, and
// the message of a condition that gives it, preferring one that is not a stock
// sentence. An Instance that is only on its way has neither.
func ReadInstance(deleting bool, conditions []metav1.Condition) Contribution {
	seen := pick(conditions)
	if seen.ready() {
		return Contribution{Ready: true, Deleting: deleting}
	}
	if deleting {
		return Contribution{Deleting: true}
	}
	claims, n := seen.claims()
	best := ""
	for _, c := range claims[:n] {
		if best == "" || reason.Compare(c.reason, best) < 0 {
			best = c.reason
		}
	}
	for _, c := range claims[:n] {
		if c.reason != best {
			continue
		}
		if message := Clean(c.message, MaxDetail); !reason.IsStock(best, message) {
			return Contribution{Reason: best, Message: message}
		}
	}
	return Contribution{Reason: best}
}

// picked are the conditions of one Instance that are read, nil where missing.
type picked struct {
	main        [3]*metav1.Condition // Ready, Available, Programmed
	quota, data *metav1.Condition
}

func pick(conditions []metav1.Condition) picked {
	var p picked
	var running *metav1.Condition
	for i := range conditions {
		var slot **metav1.Condition
		switch conditions[i].Type {
		case typeReady:
			slot = &p.main[0]
		case typeAvailable:
			slot = &p.main[1]
		case typeProgram:
			slot = &p.main[2]
		case typeRunning:
			slot = &running
		case typeQuota:
			slot = &p.quota
		case typeData:
			slot = &p.data
		default:
			continue
		}
		if *slot == nil {
			*slot = &conditions[i]
		}
	}
	if p.main[1] == nil {
		p.main[1] = running
	}
	return p
}

func (p picked) ready() bool {
	if c := p.main[0]; c == nil || c.Status != metav1.ConditionTrue || isFailure(c.Reason) {
		return false
	}
	for _, c := range p.main[1:] {
		if c == nil || c.Status == metav1.ConditionTrue {
			continue
		}
		if c.Status == metav1.ConditionFalse || isFailure(c.Reason) {
			return false
		}
	}
	return true
}

// isFailure tells whether the reason is a failure whatever the status beside
// it. A reason the table does not know is one only beside False.
func isFailure(r string) bool {
	return reason.Known(r) && reason.RankOf(r) >= reason.Quota
}

// claim is one reason why the Instance is not ready, by its canonical name.
type claim struct{ reason, message string }

// claims lists the reasons in the order in which messages are preferred.
func (p picked) claims() (list [5]claim, n int) {
	add := func(r string, c *metav1.Condition) {
		list[n] = claim{r, c.Message}
		n++
	}
	for _, c := range p.main {
		if r := mainReason(c); r != "" {
			add(r, c)
		}
	}
	if c := p.quota; c != nil && (c.Status == metav1.ConditionFalse ||
		c.Status != metav1.ConditionTrue && c.Reason == reason.QuotaNoBudget) {
		add(reason.QuotaNotGranted, c)
	}
	if c := p.data; c != nil && reason.Known(c.Reason) {
		if r := mainReason(c); r != "" {
			add(r, c)
		}
	}
	return list, n
}

// mainReason is the canonical reason that a condition gives for its Instance
// not being ready, or empty where it gives none.
func mainReason(c *metav1.Condition) string {
	switch {
	case c == nil:
		return ""
	case reason.Known(c.Reason):
		rank := reason.RankOf(c.Reason)
		if rank < reason.Working || c.Status == metav1.ConditionTrue && rank < reason.Quota {
			return ""
		}
		return reason.Canonical(c.Reason)
	case c.Status != metav1.ConditionFalse:
		return "" // unlisted and not False: on its way, or well
	case !reason.Valid(c.Reason):
		return reason.NotRunning
	default:
		return c.Reason
	}
}
