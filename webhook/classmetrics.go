package webhook

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// classMetrics are the metrics by runtime class. Classes are few, and made by
// whoever operates the platform, so their names may be values of a label; but
// what a customer writes into runtime.class may not. Only classes that exist or
// have existed get a series of their own, and only the first maxClassLabels of
// them.
type classMetrics struct {
	findings, withdrawals *prometheus.CounterVec

	mu          sync.Mutex
	known       map[string]*classSeries
	none, other *classSeries
}

// classSeries are those of one class, found once.
type classSeries struct{ refused, warned, withdrawn prometheus.Counter }

const maxClassLabels = 20

// The values of the label class that name no class.
const (
	classNone  = "none"  // no class was named, and none is the default
	classOther = "other" // one that does not exist, or one too many
)

// The values of the label decision.
const (
	decisionRefused = "refused"
	decisionWarned  = "warned"
)

func newClassMetrics(findings, withdrawals *prometheus.CounterVec) *classMetrics {
	c := &classMetrics{findings: findings, withdrawals: withdrawals, known: map[string]*classSeries{}}
	c.none, c.other = c.series(classNone), c.series(classOther)
	return c
}

func (c *classMetrics) series(label string) *classSeries {
	return &classSeries{
		refused:   c.findings.WithLabelValues(label, decisionRefused),
		warned:    c.findings.WithLabelValues(label, decisionWarned),
		withdrawn: c.withdrawals.WithLabelValues(label),
	}
}

// meet gives a class that exists its series, at zero.
func (c *classMetrics) meet(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[name] == nil && len(c.known) < maxClassLabels {
		c.known[name] = c.series(name)
	}
}

// of finds the series of a resolved class.
func (c *classMetrics) of(name string) *classSeries {
	if name == "" {
		return c.none
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.known[name]; s != nil {
		return s
	}
	return c.other
}

func (c *classMetrics) count(a answer) {
	switch refused := a.verdict.Refused; a.outcome {
	case OutcomeRefused:
		c.of(refused[0].Class).refused.Add(float64(len(refused)))
	case OutcomeWouldRefuse, OutcomeOwnerElsewhere:
		c.of(refused[0].Class).warned.Add(float64(len(refused)))
	case OutcomeKept:
		c.of(a.verdict.Class).warned.Add(float64(a.verdict.Kept))
	}
}

// ClassChanged tells of a RuntimeClass that was found (before is nil), changed,
// or deleted (after is nil), for the metrics alone: no answer depends on it.
func (w *Webhook) ClassChanged(before, after *RuntimeClass) {
	c := w.metrics.classes
	if after != nil {
		c.meet(after.Name)
	}
	if before == nil {
		return
	}
	if withdraws(before, after) {
		c.of(before.Name).withdrawn.Inc()
	}
	if before.Spec.Default && (after == nil || !after.Spec.Default) {
		c.none.withdrawn.Inc()
	}
}

// withdraws tells whether something that passed under the class before may be
// refused under it now. A class that becomes the default takes in those that
// name none.
func withdraws(before, after *RuntimeClass) bool {
	if after == nil {
		return true
	}
	now := newClass(after)
	return !before.Spec.Default && after.Spec.Default ||
		slices.ContainsFunc(newClass(before).grants, func(name string) bool { return !slices.Contains(now.grants, name) })
}
