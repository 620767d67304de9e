package webhook

import "github.com/prometheus/client_golang/prometheus"

// metrics counts reviews. Labels are closed sets and every series starts at
// zero, so that a rate is right from the first event on.
//
//	causeway_capability_reviews_total{resource,outcome}   reviews answered
//	causeway_capability_refusals_total{resource,rule}     causes in refusals; in
//	    ModeWarn those that would have been
//	causeway_capability_class_reads_total{result}         live reads of the
//	    RuntimeClasses: ok or error
type metrics struct {
	reviews, refusals *prometheus.CounterVec
	reads             *prometheus.CounterVec
}

const (
	readOK    = "ok"
	readError = "error"
)

// newMetrics registers the counters; an error is that of the registerer.
func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		reviews: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_capability_reviews_total",
			Help: "Reviews of what containers add, by resource and outcome.",
		}, []string{"resource", "outcome"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_capability_refusals_total",
			Help: "Causes of refusals, by resource and rule; with --capabilities=warn those that would have been.",
		}, []string{"resource", "rule"}),
		reads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "causeway_capability_class_reads_total",
			Help: "Live reads of the runtime classes before a refusal, by result.",
		}, []string{"result"}),
	}
	for _, r := range resources {
		for _, o := range Outcomes {
			m.reviews.WithLabelValues(r.name, string(o))
		}
		for _, rule := range Rules {
			m.refusals.WithLabelValues(r.name, string(rule))
		}
	}
	m.reads.WithLabelValues(readOK)
	m.reads.WithLabelValues(readError)
	for _, c := range []prometheus.Collector{m.reviews, m.refusals, m.reads} {
		if err := registerer.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) count(r *resource, a answer) {
	m.reviews.WithLabelValues(r.name, string(a.outcome)).Inc()
	if a.outcome == OutcomeRefused || a.outcome == OutcomeWouldRefuse {
		for _, f := range a.verdict.Refused {
			m.refusals.WithLabelValues(r.name, string(f.Rule)).Inc()
		}
	}
}

func (m *metrics) countRead(err error) {
	result := readOK
	if err != nil {
		result = readError
	}
	m.reads.WithLabelValues(result).Inc()
}
