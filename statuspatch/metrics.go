package statuspatch

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

// hook is one of the webhooks.
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

// mending is why the loop had to repair a parent.
type mending string

const (
	// mendedDeferred: a request had left it to the loop.
	mendedDeferred mending = "deferred"
	// mendedTakeover: it was wrong when this process became the active one.
	mendedTakeover mending = "takeover"
	// mendedUndone: the last repair was undone by another writer.
	mendedUndone mending = "undone"
	// mendedChange: some other change showed it to be wrong, which no webhook
	// was asked about or which needs none: an Instance that was deleted, say.
	mendedChange mending = "change"
)

// silence is how a parent that is not available fails to say why.
type silence string

const (
	// silentDefault: nothing but the sentence of a controller that knows nothing.
	silentDefault silence = "default"
	// silentUnknown: a reason that the table does not have.
	silentUnknown silence = "unknown_reason"
)

const (
	settledStored = "stored"
	settledGone   = "gone"
	settledFailed = "failed"
)

var (
	hooks     = []hook{hookInstances, hookDeployments, hookWorkloads, hookPods}
	outcomes  = []outcome{outcomeUnchanged, outcomeApplied, outcomeDeferred, outcomeInactive, outcomeUndecodable, outcomePanic}
	deferrals = []deferral{deferredBudget, deferredInactive, deferredMissing, deferredError}
	mendings  = []mending{mendedDeferred, mendedTakeover, mendedUndone, mendedChange}
	silences  = []silence{silentDefault, silentUnknown}
	causes    = []cause{causeRequest, causeOverlay, causeRepair}
	results   = []string{settledStored, settledGone, settledFailed}
	kinds     = []ledger.Kind{ledger.KindDeployment, ledger.KindWorkload}
)

// reviewSeconds are fit for admission: from a millisecond to the longest that
// the API server waits for a status webhook.
var reviewSeconds = []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 3}

// waiterCounts double or so up to what one API server may have in flight.
var waiterCounts = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500}

// metrics counts what the status path does. Labels are closed sets, so every
// series is there from the start, at zero, and is found without a search by
// labels; no object is named.
type metrics struct {
	reviews     map[hook]map[outcome]prometheus.Counter
	durations   map[hook]prometheus.Observer
	deferrals   map[deferral]prometheus.Counter
	writes      map[ledger.Kind]map[cause]prometheus.Counter
	unexplained map[ledger.Kind]map[silence]prometheus.Counter
	waiters     map[ledger.Kind]prometheus.Observer
	commits     map[ledger.Kind]prometheus.Observer
	conflicts   map[ledger.Kind]prometheus.Counter
	repairs     map[ledger.Kind]map[mending]prometheus.Counter
	failures    map[ledger.Kind]prometheus.Counter
	settled     map[string]prometheus.Counter
}

// newMetrics registers the metrics with the registerer, unless that is nil.
func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	r := registrar{to: registerer}
	m := &metrics{
		reviews: each(hooks, outcomes, r.counter("reviews_total",
			"Status reviews answered, by webhook and outcome.", "webhook", "outcome")),
		durations: one(hooks, r.histogram("review_duration_seconds",
			"How long a status review took, from its first byte to the answer's last, by webhook.", reviewSeconds, "webhook")),
		deferrals: one(deferrals, r.counter("deferred_total",
			"Instance reviews whose parents were left to the repair loop, by cause.", "cause")),
		writes: each(kinds, causes, r.counter("parent_writes_total",
			"Roll-ups that were written, by the parent's kind and what wrote them: the request of an Instance, the overlay into somebody else's write, or the repair loop.",
			"kind", "cause")),
		unexplained: each(kinds, silences, r.counter("unexplained_answers_total",
			"Roll-ups written that say a parent is not available without a cause the table knows, by kind and what they say instead.", "kind", "says")),
		waiters: one(kinds, r.histogram("commit_waiters",
			"How many shared one computation and write of a parent, by its kind.", waiterCounts, "kind")),
		commits: one(kinds, r.histogram("commit_duration_seconds",
			"How long one computation and, where it was needed, write of a parent took, by its kind.", reviewSeconds, "kind")),
		conflicts: one(kinds, r.counter("conflicts_total",
			"Status patches of parents that met a conflict, by kind.", "kind")),
		repairs: each(kinds, mendings, r.counter("repairs_total",
			"Parents that the repair loop found wrong and wrote, by kind and cause.", "kind", "cause")),
		failures: one(kinds, r.counter("repair_failures_total",
			"Repairs that failed and are tried again, by kind.", "kind")),
		settled: one(results, r.counter("pending_settled_total",
			"Contributions of Instances that the watch did not confirm within 3 s and that were looked at live, by what that found.", "result")),
	}
	return m, errors.Join(r.errs...)
}

// newInstanceWrites is the metric of what Pods made necessary; only processes
// that observe them have it.
func newInstanceWrites(registerer prometheus.Registerer) (map[podstate.Standing]prometheus.Counter, error) {
	r := registrar{to: registerer}
	writes := one([]podstate.Standing{podstate.Failing, podstate.Well}, r.counter("instance_writes_total",
		"Status patches of Instances that Pods made necessary and that were stored, by where the Pod stands.", "standing"))
	return writes, errors.Join(r.errs...)
}

// RegisterMetrics registers every metric of this package as it stands when a
// process starts. It is for the documentation; a Sidecar registers its own.
func RegisterMetrics(registerer prometheus.Registerer) error {
	_, err := newMetrics(registerer)
	_, pods := newInstanceWrites(registerer)
	state := newState(ledger.New(nil), newTenure(time.Now), time.Now)
	for _, resource := range []string{resourceInstances, resourceDeployments, resourceWorkloads, resourcePods} {
		f := &freshness{}
		f.begin()
		state.follow(resource, f)
	}
	return errors.Join(err, pods, registerer.Register(state))
}

func (m *metrics) review(h hook, o outcome)             { m.reviews[h][o].Inc() }
func (m *metrics) reviewed(h hook, took time.Duration)  { m.durations[h].Observe(took.Seconds()) }
func (m *metrics) deferred(d deferral)                  { m.deferrals[d].Inc() }
func (m *metrics) conflict(k ledger.Kind)               { m.conflicts[k].Inc() }
func (m *metrics) repair(k ledger.Kind, why mending)    { m.repairs[k][why].Inc() }
func (m *metrics) repairFailed(k ledger.Kind)           { m.failures[k].Inc() }
func (m *metrics) settle(result string)                 { m.settled[result].Inc() }
func (m *metrics) committing(k ledger.Kind, shared int) { m.waiters[k].Observe(float64(shared)) }
func (m *metrics) committed(k ledger.Kind, took time.Duration) {
	m.commits[k].Observe(took.Seconds())
}

// write counts a roll-up that was written, and what it leaves unexplained.
func (m *metrics) write(k ledger.Kind, why cause, says silence) {
	m.writes[k][why].Inc()
	if says != "" {
		m.unexplained[k][says].Inc()
	}
}

// registrar makes metrics and registers them, if it has where.
type registrar struct {
	to   prometheus.Registerer
	errs []error
}

func (r *registrar) add(c prometheus.Collector) {
	if r.to != nil {
		r.errs = append(r.errs, r.to.Register(c))
	}
}

func (r *registrar) counter(name, help string, labels ...string) func(...string) prometheus.Counter {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "causeway", Subsystem: "status", Name: name, Help: help}, labels)
	r.add(vec)
	return func(values ...string) prometheus.Counter { return vec.WithLabelValues(values...) }
}

func (r *registrar) histogram(name, help string, buckets []float64, labels ...string) func(...string) prometheus.Observer {
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "causeway", Subsystem: "status", Name: name, Help: help, Buckets: buckets,
	}, labels)
	r.add(vec)
	return func(values ...string) prometheus.Observer { return vec.WithLabelValues(values...) }
}

// one resolves one series for each value of a label.
func one[K comparable, M any](values []K, series func(...string) M) map[K]M {
	out := make(map[K]M, len(values))
	for _, v := range values {
		out[v] = series(labelOf(v))
	}
	return out
}

// each resolves one series for each pair of values of two labels.
func each[A, B comparable, M any](first []A, second []B, series func(...string) M) map[A]map[B]M {
	out := make(map[A]map[B]M, len(first))
	for _, a := range first {
		out[a] = one(second, func(b ...string) M { return series(labelOf(a), b[0]) })
	}
	return out
}

func labelOf(v any) string { return fmt.Sprint(v) }
