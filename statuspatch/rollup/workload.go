package rollup

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// WorkloadAvailable is the verdict on the condition Available of a Workload,
// and of each of its placements in the order of w.Placements. One call gives
// both, since both are sums over the same deployments.
//
// A deployment that is carried counts by its status instead of its Instances,
// and its False condition competes as a base. A ready Instance makes Workload
// and placement True whatever the bases say, save for NetworkNotFound of the
// Workload itself.
func WorkloadAvailable(w Workload) (workload Verdict, placements []Verdict) {
	groups := byPlacement(w)
	all := sum(groups)
	all.own = findBase(w.Available, reason.WorkloadBase)

	placements = make([]Verdict, len(w.Placements))
	for i, p := range w.Placements {
		g := *find(groups, p.Name)
		g.own = findBase(p.Available, reason.WorkloadBase)
		placements[i] = g.placementVerdict()
	}
	if !all.up {
		return all.hintedVerdict(), placements
	}
	if all.own != nil && all.own.reason == reason.NetworkNotFound {
		return all.own.verdict(), placements
	}
	return Verdict{metav1.ConditionTrue, reason.AvailablePlacementFound,
		listed(reason.MessageAvailablePlacementFound, remarks(groups))}, placements
}

// downVerdict is the verdict on a group none of whose deployments is up.
func (g group) downVerdict() Verdict {
	if b := g.best(); b.leads(g.failures) {
		return b.verdict()
	}
	return down(g.failures, g.counted, g.seen)
}

// hintedVerdict is downVerdict with what is known besides of containers that
// crash. It speaks of the template, which all placements share, so it is said
// once, of the Workload; a base is told alone.
func (g group) hintedVerdict() Verdict {
	v := g.downVerdict()
	if g.best().leads(g.failures) {
		return v
	}
	return hinted(v, hint(g.lacks))
}

func (g group) placementVerdict() Verdict {
	if g.up {
		var parts []string
		if text, ok := g.partly(); ok {
			parts = append(parts, text)
		}
		return Verdict{metav1.ConditionTrue, reason.AvailableDeploymentFound,
			listed(reason.MessageAvailableDeploymentFound, parts)}
	}
	v := g.downVerdict()
	if v.Reason == reason.InstancesProvisioning {
		return Verdict{metav1.ConditionFalse, reason.NoAvailableDeployments, reason.MessageNoAvailableDeployments}
	}
	return v
}

// remarks are what a Workload that is up says of its placements: those that
// are down by name, then those that are up in part. groups are in that order.
func remarks(groups []*group) []string {
	var downs, partly []string
	for _, g := range groups {
		if !g.up {
			downs = append(downs, placementPrefix(g.name)+" is not available: "+g.downText())
		} else if text, ok := g.partly(); ok {
			partly = append(partly, placementPrefix(g.name)+": "+text)
		}
	}
	return slices.Concat(downs, partly)
}
