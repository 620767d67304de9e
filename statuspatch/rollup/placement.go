package rollup

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// maxPlacements bounds the placements that one message tells of.
const maxPlacements = 5

// group is the sum over some of a Workload's deployments: those of a
// placement, or all of them.
type group struct {
	name string
	// up is set where at least one deployment is available.
	up            bool
	seen, counted int
	failures      []Failure // ranked once the group is complete
	lacks         []Lack
	own           *base // what its own controller says
	deployments   *base // the best base of those deployments that are down
}

// byPlacement sums up the deployments of each placement, by name. A placement
// counts if the status lists it or a deployment belongs to it.
func byPlacement(w Workload) []*group {
	index := map[string]*group{}
	var groups []*group
	at := func(name string) *group {
		g := index[name]
		if g == nil {
			g = &group{name: name}
			index[name] = g
			groups = append(groups, g)
		}
		return g
	}
	for _, p := range w.Placements {
		g := at(p.Name)
		if own := findBase(p.Available, reason.WorkloadBase); own.before(g.own) {
			g.own = own
		}
	}
	for _, d := range w.Deployments {
		at(d.Placement).add(d)
	}
	for _, g := range groups {
		g.failures = merge(g.failures)
	}
	slices.SortFunc(groups, func(a, b *group) int { return strings.Compare(a.name, b.name) })
	return groups
}

func find(groups []*group, name string) *group {
	i, _ := slices.BinarySearchFunc(groups, name, func(g *group, name string) int {
		return strings.Compare(g.name, name)
	})
	return groups[i]
}

func (g *group) add(d Deployment) {
	up, b := d.Tally.Ready > 0, (*base)(nil)
	if d.Carried() {
		up, b = d.Available != nil && d.Available.Status == metav1.ConditionTrue, asBase(d.Available)
		g.seen += max(int(d.Replicas), d.Tally.Seen)
		g.counted += max(int(d.Replicas), 0)
	} else {
		if !up {
			b = findBase(d.Available, reason.DeploymentBase)
		}
		g.seen += d.Tally.Seen
		g.counted += d.Tally.Counted
		g.failures = append(g.failures, d.Tally.Failures...)
		g.lacks = append(g.lacks, d.Tally.Lacks...)
	}
	g.up = g.up || up
	if b != nil {
		b.of = &owner{d.Placement, d.Name}
		if b.before(g.deployments) {
			g.deployments = b
		}
	}
}

// sum is the group of all deployments. What placements' own controller says of
// them stays with them: it says the same of the Workload if it matters there.
func sum(groups []*group) group {
	var all group
	var failures [][]Failure
	for _, g := range groups {
		all.up = all.up || g.up
		all.seen += g.seen
		all.counted += g.counted
		failures = append(failures, g.failures)
		all.lacks = append(all.lacks, g.lacks...)
		if g.deployments.before(all.deployments) {
			all.deployments = g.deployments
		}
	}
	all.failures = merge(failures...)
	return all
}

// best is the group's best base, its own first among equals; nil without one.
func (g group) best() *base {
	if g.own.before(g.deployments) {
		return g.own
	}
	return g.deployments
}

// downText says in brief why a placement is down, without a closing stop.
func (g group) downText() string {
	if b := g.best(); b.leads(g.failures) {
		return open(b.text())
	}
	if len(g.failures) > 0 {
		return sentence(g.failures[0], g.counted)
	}
	return defaultSentence(g.seen)
}

// partly says in brief what is wrong with a placement that is up, if anything
// is that makes a sentence beside a worse one. Its own base yields to being up.
func (g group) partly() (text string, ok bool) {
	failures := telling(g.failures)
	if b := g.deployments; b != nil && reason.RankOf(b.reason) >= reason.Data && b.leads(failures) {
		return open(b.text()), true
	}
	if len(failures) > 0 {
		return sentence(failures[0], g.counted), true
	}
	return "", false
}

// listed is a lead and remarks after it, at most maxPlacements of them.
func listed(lead string, remarks []string) string {
	if len(remarks) == 0 {
		return lead
	}
	rest := len(remarks) - maxPlacements
	if rest > 0 {
		more := "and " + strconv.Itoa(rest) + " more placements"
		if rest == 1 {
			more = "and 1 more placement"
		}
		remarks = append(slices.Clone(remarks[:maxPlacements]), more)
	}
	return stopped(lead + "; " + strings.Join(remarks, "; "))
}
