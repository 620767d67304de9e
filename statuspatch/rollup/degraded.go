package rollup

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// asExpected is the Degraded of what is not available in part: it is well, or it
// is down, which Available says.
var asExpected = Verdict{metav1.ConditionFalse, reason.AsExpected, "Nothing fails beside what serves"}

// DeploymentDegraded is the verdict on the optional condition Degraded of a
// deployment, where available is the one on its Available: True while it is
// available and some of its Instances fail, with the sentences that it would
// have if it were down.
func DeploymentDegraded(d Deployment, available Verdict) Verdict {
	failures := telling(merge(d.Tally.Failures))
	if available.Status != metav1.ConditionTrue || len(failures) == 0 {
		return asExpected
	}
	v := down(failures, d.Tally.Counted, d.Tally.Seen)
	return Verdict{metav1.ConditionTrue, v.Reason, v.Message}
}

// WorkloadDegraded is DeploymentDegraded for a Workload: True while it is
// available and a placement fails in part or whole. The reason is the best one,
// the message one clause for each such placement.
func WorkloadDegraded(w Workload, available Verdict) Verdict {
	if available.Status != metav1.ConditionTrue {
		return asExpected
	}
	best := ""
	var downs, partly []string
	for _, g := range byPlacement(w) {
		r, text := g.failing()
		if r == "" {
			continue
		}
		if best == "" || reason.Compare(r, best) < 0 {
			best = r
		}
		clause := placementPrefix(g.name) + ": " + text
		if g.up {
			partly = append(partly, clause)
		} else {
			downs = append(downs, clause)
		}
	}
	if best == "" {
		return asExpected
	}
	clauses := append(downs, partly...)
	return Verdict{metav1.ConditionTrue, best, stopped(listed(clauses[0], clauses[1:]))}
}

// failing is the best reason of what fails in a placement, and that in brief;
// empty where nothing does that does not pass by itself.
func (g group) failing() (r, text string) {
	failures := telling(g.failures)
	b := g.deployments
	if !g.up {
		b = g.best() // its own yields to being up
	}
	switch {
	case b != nil && reason.RankOf(b.reason) >= reason.Data && b.leads(failures):
		return b.reason, open(b.text())
	case len(failures) > 0:
		return failures[0].Reason, sentence(failures[0], g.counted)
	default:
		return "", ""
	}
}

// IsDegraded tells whether Causeway may have written a condition Degraded, which
// it then takes away where it keeps none. Another writer's stays.
func IsDegraded(c *metav1.Condition) bool {
	switch {
	case c == nil:
		return false
	case c.Status == metav1.ConditionFalse:
		return c.Reason == asExpected.Reason && c.Message == asExpected.Message
	default:
		return c.Status == metav1.ConditionTrue && InGrammar(c.Reason, c.Message)
	}
}
