package statuspatch

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// state is a collector of what holds now. It asks at each scrape, so nothing
// has to be kept in step on the request path; what it asks for is counted
// already, so it holds no lock for longer than it takes to copy that.
type state struct {
	ledger *ledger.Ledger
	tenure *tenure
	now    func() time.Time

	watches []watch

	active, age, events, objects, pending, workloads *prometheus.Desc
}

type watch struct {
	resource string
	*freshness
}

var _ prometheus.Collector = &state{}

func newState(l *ledger.Ledger, t *tenure, now func() time.Time) *state {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName("causeway", "status", name), help, labels, nil)
	}
	return &state{
		ledger: l, tenure: t, now: now,
		active: desc("active", "1 where this process is the active one, which answers and writes; 0 on a standby."),
		age: desc("cache_age_seconds",
			"How long ago the watch of a resource last heard from the API server, which sends something every minute.", "resource"),
		events:    desc("watch_events_total", "Versions of objects that the watch delivered, deletions included, by resource.", "resource"),
		objects:   desc("ledger_objects", "Objects that the ledger knows, by resource.", "resource"),
		pending:   desc("pending_instances", "Instances whose contribution is pending: answered for, and not yet seen stored."),
		workloads: desc("workloads", "Workloads by the reason of their stored Available condition.", "reason"),
	}
}

// follow adds a watch. Call it before the state is registered.
func (s *state) follow(resource string, f *freshness) {
	s.watches = append(s.watches, watch{resource, f})
}

// Describe sends what Collect may send.
func (s *state) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.active, s.age, s.events, s.objects, s.pending, s.workloads} {
		out <- d
	}
}

// Collect sends what holds now.
func (s *state) Collect(out chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, t prometheus.ValueType, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, t, value, labels...)
	}
	active := 0.0
	if s.tenure.active() {
		active = 1
	}
	send(s.active, prometheus.GaugeValue, active)
	for _, w := range s.watches {
		age, ok := w.age(s.now())
		if !ok {
			continue
		}
		send(s.age, prometheus.GaugeValue, age.Seconds(), w.resource)
		send(s.events, prometheus.CounterValue, float64(w.freshness.events.Load()), w.resource)
	}
	sizes := s.ledger.Sizes()
	send(s.objects, prometheus.GaugeValue, float64(sizes.Instances), resourceInstances)
	send(s.objects, prometheus.GaugeValue, float64(sizes.Deployments), resourceDeployments)
	send(s.objects, prometheus.GaugeValue, float64(sizes.Workloads), resourceWorkloads)
	send(s.pending, prometheus.GaugeValue, float64(sizes.Pending))
	for label, n := range byLabel(s.ledger.Reported()) {
		send(s.workloads, prometheus.GaugeValue, float64(n), label)
	}
}

// The values of the label reason that are no reasons of the table.
const (
	reportedNone  = "none"
	reportedOther = "other"
)

// byLabel sorts what Workloads say into the reasons of the table, those that
// only tell of progress aside, and keeps the values few whatever other writers
// make up.
func byLabel(reported map[string]int) map[string]int {
	out := map[string]int{reportedNone: 0, reportedOther: 0, reason.AvailablePlacementFound: 0}
	for _, name := range reason.Names() {
		if !reason.IsProgress(name) {
			out[name] = 0
		}
	}
	for said, n := range reported {
		label := reason.Canonical(said)
		if said == "" {
			label = reportedNone
		} else if _, ok := out[label]; !ok || label == reportedNone || label == reportedOther {
			label = reportedOther
		}
		out[label] += n
	}
	return out
}
