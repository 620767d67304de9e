package tree

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// Build explains each Workload of the snapshot: those that fail first, then by
// namespace and name.
func Build(s Snapshot) []Explanation {
	b := builder{snapshot: &s, instances: map[types.UID][]Instance{}, deployments: map[types.UID][]Deployment{}}
	for _, i := range s.Instances {
		b.instances[i.Deployment] = append(b.instances[i.Deployment], i)
	}
	for _, d := range s.Deployments {
		b.deployments[d.Workload] = append(b.deployments[d.Workload], d)
	}
	explanations := make([]Explanation, 0, len(s.Workloads))
	for _, w := range s.Workloads {
		explanations = append(explanations, explain(b.workload(w), b.notRead()))
	}
	order := map[State]int{Failing: 0, PartlyFailing: 1, Waiting: 2, Ready: 3}
	slices.SortFunc(explanations, func(a, b Explanation) int {
		return cmp.Or(
			cmp.Compare(order[a.State], order[b.State]),
			strings.Compare(a.Workload.Namespace, b.Workload.Namespace),
			strings.Compare(a.Workload.Name, b.Workload.Name),
		)
	})
	return explanations
}

type builder struct {
	snapshot    *Snapshot
	instances   map[types.UID][]Instance
	deployments map[types.UID][]Deployment
}

// blind tells that the roll-up would lack what it rests on, so that the stored
// status is all there is.
func (b *builder) blind() bool { return b.snapshot.NoInstances != "" || b.snapshot.NoDeployments != "" }

func (b *builder) notRead() (notes []string) {
	if why := b.snapshot.NoDeployments; why != "" {
		notes = append(notes, "WorkloadDeployments could not be read: "+why)
	}
	if why := b.snapshot.NoInstances; why != "" {
		notes = append(notes, "Instances could not be read: "+why)
	}
	return notes
}

// workload makes the whole tree of a Workload.
func (b *builder) workload(w Workload) Node {
	in := rollup.Workload{Available: condition(w.Conditions, typeAvailable)}
	below := map[string][]Node{}
	placements := slices.Clone(w.Placements)
	for _, d := range b.deployments[w.UID] {
		node, counted := b.deployment(d)
		in.Deployments = append(in.Deployments, counted)
		below[d.Placement] = append(below[d.Placement], node)
		if !slices.ContainsFunc(placements, func(p Placement) bool { return p.Name == d.Placement }) {
			// The status is not written yet, or lists it no more.
			placements = append(placements, Placement{Name: d.Placement})
		}
	}
	for _, p := range placements {
		in.Placements = append(in.Placements, rollup.Placement{Name: p.Name, Available: condition(p.Conditions, typeAvailable)})
	}
	available, verdicts := rollup.WorkloadAvailable(in)

	root := Node{Kind: KindWorkload, Namespace: w.Namespace, Name: w.Name, Deleting: w.Deleting}
	// What the Workload's Pods say is not read here, so a hint is taken as it stands.
	b.judge(&root, rollup.KeepHint(available, in.Available), in.Available)
	for i, p := range placements {
		node := Node{Kind: KindPlacement, Name: p.Name, Children: below[p.Name], Deleting: w.Deleting}
		b.judge(&node, verdicts[i], in.Placements[i].Available)
		node.count(p.ReadyReplicas, p.Replicas, b.snapshot.NoDeployments != "")
		node.sortChildren()
		root.Children = append(root.Children, node)
	}
	root.count(w.ReadyReplicas, w.Replicas, b.snapshot.NoDeployments != "")
	root.sortChildren()
	return root
}

// deployment makes the tree of a deployment and its part of the roll-up.
func (b *builder) deployment(d Deployment) (Node, rollup.Deployment) {
	node := Node{Kind: KindDeployment, Name: d.Name, Location: d.Location, Deleting: d.Deleting}
	var members []rollup.Instance
	for _, i := range b.instances[d.UID] {
		child, member := instance(i)
		members = append(members, member)
		node.Children = append(node.Children, child)
	}
	node.sortChildren()
	in := rollup.Deployment{
		Name: d.Name, Placement: d.Placement, Tally: rollup.Sum(members),
		Desired: d.Desired, Replicas: d.Replicas, ReadyReplicas: d.ReadyReplicas,
		Available: condition(d.Conditions, typeAvailable),
	}
	node.ReadyInstances, node.Instances = in.Tally.Ready, in.Tally.Counted
	// Some of its Instances live on another plane: its status is what there is.
	node.Unseen = b.blind() || in.Carried() && d.Replicas != 0
	if node.Unseen {
		node.Said = stored(in.Available)
		node.ReadyInstances, node.Instances = int(d.ReadyReplicas), int(d.Replicas)
	} else {
		b.judge(&node, rollup.DeploymentAvailable(in), in.Available)
	}
	if wanted := int(d.Desired); wanted != node.Instances {
		node.Wanted = &wanted
	}
	return node, in
}

// judge gives a node its answer.
func (b *builder) judge(n *Node, v rollup.Verdict, have *metav1.Condition) {
	if b.blind() {
		n.Said, n.Unseen = stored(have), true
		return
	}
	n.Said = said(v)
	// Causeway leaves alone what is being deleted, and so do its statuses.
	if !n.Deleting {
		n.compareStored(have)
	}
}

// count adds up the children, or takes the stored numbers where there are none
// to see.
func (n *Node) count(ready, replicas int32, unseen bool) {
	if unseen {
		n.ReadyInstances, n.Instances = int(ready), int(replicas)
		return
	}
	wanted := 0
	for _, c := range n.Children {
		n.ReadyInstances += c.ReadyInstances
		n.Instances += c.Instances
		if c.Wanted != nil {
			wanted += *c.Wanted
		} else {
			wanted += c.Instances
		}
	}
	if wanted != n.Instances {
		n.Wanted = &wanted
	}
}
