package webhook

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts reviews. Labels are closed sets and every series starts at
// zero, so that a rate is right from the first event on. Those by class are in
// classmetrics.go.
type metrics struct {
	reviews, refusals map[string]map[string]prometheus.Counter // by resource, then by outcome or rule
	durations         map[string]prometheus.Observer           // by resource
	reads             map[string]prometheus.Counter            // by result
	classes           *classMetrics
}

const (
	readOK    = "ok"
	readError = "error"
)

// reviewSeconds are fit for admission: from a millisecond to the timeout that
// the webhook configuration gives a review.
var reviewSeconds = []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5}

// RegisterMetrics registers every metric of this package as it stands when a
// process starts. It is for the documentation; New registers its own.
func RegisterMetrics(registerer prometheus.Registerer) error {
	_, err := newMetrics(registerer)
	return err
}

// newMetrics registers the metrics; an error is that of the registerer.
func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	var errs []error
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		vec := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "causeway", Subsystem: "capability", Name: name, Help: help}, labels)
		errs = append(errs, registerer.Register(vec))
		return vec
	}
	reviews := counter("reviews_total", "Reviews of what containers add, by resource and outcome.", "resource", "outcome")
	refusals := counter("refusals_total",
		"Causes of refusals, by resource and rule; with --capabilities=warn those that would have been.", "resource", "rule")
	reads := counter("class_reads_total", "Live reads of the runtime classes before a refusal, by result.", "result")
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "causeway", Subsystem: "capability", Name: "review_duration_seconds",
		Help:    "How long a review of what containers add took, from its first byte to the answer's last, by resource.",
		Buckets: reviewSeconds,
	}, []string{"resource"})
	errs = append(errs, registerer.Register(durations))

	m := &metrics{
		reviews:   map[string]map[string]prometheus.Counter{},
		refusals:  map[string]map[string]prometheus.Counter{},
		durations: map[string]prometheus.Observer{},
		reads: map[string]prometheus.Counter{
			readOK: reads.WithLabelValues(readOK), readError: reads.WithLabelValues(readError),
		},
		classes: newClassMetrics(
			counter("findings_total",
				"Capabilities that were refused, or let through with a warning, by runtime class and decision.", "class", "decision"),
			counter("class_withdrawals_total",
				"Changes to runtime classes after which something may be refused that was granted before, by class.", "class")),
	}
	for _, r := range resources {
		m.durations[r.name] = durations.WithLabelValues(r.name)
		m.reviews[r.name] = map[string]prometheus.Counter{}
		for _, o := range Outcomes {
			m.reviews[r.name][string(o)] = reviews.WithLabelValues(r.name, string(o))
		}
		m.refusals[r.name] = map[string]prometheus.Counter{}
		for _, rule := range Rules {
			m.refusals[r.name][string(rule)] = refusals.WithLabelValues(r.name, string(rule))
		}
	}
	return m, errors.Join(errs...)
}

func (m *metrics) count(r *resource, a answer) {
	m.reviews[r.name][string(a.outcome)].Inc()
	if a.outcome == OutcomeRefused || a.outcome == OutcomeWouldRefuse {
		for _, f := range a.verdict.Refused {
			m.refusals[r.name][string(f.Rule)].Inc()
		}
	}
	m.classes.count(a)
}

func (m *metrics) took(r *resource, d time.Duration) { m.durations[r.name].Observe(d.Seconds()) }

func (m *metrics) countRead(err error) {
	result := readOK
	if err != nil {
		result = readError
	}
	m.reads[result].Inc()
}
