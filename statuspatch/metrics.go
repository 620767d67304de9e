package statuspatch

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// hook is one of the three webhooks.
type hook string

const (
	hookInstances   hook = "instances"
	hookDeployments hook = "workloaddeployments"
	hookWorkloads   hook = "workloads"
)

// outcome is how a review ended. Every outcome allows the write.
type outcome string

const (
	// outcomeUnchanged: nothing that the parents depend on changed, or the
	// overlay had nothing to correct.
	outcomeUnchanged outcome = "unchanged"
	// outcomeApplied: the parents say the truth, or the overlay corrected what
	// is about to be stored.
	outcomeApplied outcome = "applied"
	// outcomeDeferred: the loop does the rest.
	outcomeDeferred outcome = "deferred"
	// outcomeInactive: another process is the active one.
	outcomeInactive outcome = "inactive"
	// outcomeUndecodable: the review's object could not be read.
	outcomeUndecodable outcome = "undecodable"
	// outcomePanic: a fault of Causeway's own.
	outcomePanic outcome = "panic"
)

// deferral is why a request left its parents to the loop.
type deferral string

const (
	deferredBudget   deferral = "budget"
	deferredInactive deferral = "inactive"
	deferredMissing  deferral = "missing_parent"
	deferredError    deferral = "api_error"
)

// metrics counts what the status path does. Labels are closed sets; no object
// is named.
type metrics struct {
	reviews   *prometheus.CounterVec
	deferrals *prometheus.CounterVec
	writes    *prometheus.CounterVec
	conflicts *prometheus.CounterVec
	repairs   *prometheus.CounterVec
	settled   *prometheus.CounterVec
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "causeway", Subsystem: "status", Name: name, Help: help,
		}, labels)
	}
	m := &metrics{
		reviews:   counter("reviews_total", "Status reviews answered, by webhook and outcome.", "webhook", "outcome"),
		deferrals: counter("deferred_total", "Instance reviews whose parents were left to the repair loop, by cause.", "cause"),
		writes:    counter("parent_writes_total", "Status patches of parents that were stored, by kind and cause.", "kind", "cause"),
		conflicts: counter("conflicts_total", "Status patches of parents that met a conflict, by kind.", "kind"),
		repairs:   counter("repairs_total", "Parents the repair loop found wrong, by kind and what it did.", "kind", "result"),
		settled:   counter("pending_settled_total", "Pending contributions settled by a live read, by result.", "result"),
	}
	for _, c := range []prometheus.Collector{m.reviews, m.deferrals, m.writes, m.conflicts, m.repairs, m.settled} {
		if registerer == nil {
			break
		}
		if err := registerer.Register(c); err != nil {
			return nil, err
		}
	}
	for _, k := range []ledger.Kind{ledger.KindDeployment, ledger.KindWorkload} {
		m.conflicts.WithLabelValues(k.String())
		for _, why := range []cause{causeRequest, causeRepair} {
			m.writes.WithLabelValues(k.String(), string(why))
		}
		for _, r := range []string{repairWritten, repairUndone, repairFailed} {
			m.repairs.WithLabelValues(k.String(), r)
		}
	}
	for _, d := range []deferral{deferredBudget, deferredInactive, deferredMissing, deferredError} {
		m.deferrals.WithLabelValues(string(d))
	}
	return m, nil
}

const (
	repairWritten = "written"
	repairUndone  = "undone"
	repairFailed  = "failed"

	settledStored = "stored"
	settledGone   = "gone"
	settledFailed = "failed"
)

func (m *metrics) review(h hook, o outcome) { m.reviews.WithLabelValues(string(h), string(o)).Inc() }
func (m *metrics) deferred(d deferral)      { m.deferrals.WithLabelValues(string(d)).Inc() }
func (m *metrics) write(k ledger.Kind, why cause) {
	m.writes.WithLabelValues(k.String(), string(why)).Inc()
}
func (m *metrics) conflict(k ledger.Kind) { m.conflicts.WithLabelValues(k.String()).Inc() }
func (m *metrics) repair(k ledger.Kind, result string) {
	m.repairs.WithLabelValues(k.String(), result).Inc()
}
func (m *metrics) settle(result string) { m.settled.WithLabelValues(result).Inc() }
