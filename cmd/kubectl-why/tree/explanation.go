package tree

import (
	"slices"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// State is how a Workload does, in one word.
type State string

// The states, worst first.
const (
	// Failing: not available, for a reason.
	Failing State = "Failing"
	// Waiting: not available, and nothing is known that would not pass by itself.
	Waiting State = "Waiting"
	// PartlyFailing: available, and some of it fails.
	PartlyFailing State = "PartlyFailing"
	// Ready: available, and nothing fails.
	Ready State = "Ready"
)

// Explanation is a Workload's tree and what follows from it.
type Explanation struct {
	State State `json:"state"`
	// Causes are the reasons that occur in the tree, the one to look at first
	// first.
	Causes []Cause `json:"causes,omitempty"`
	// Differs tells that some node's stored status says something else.
	Differs bool `json:"differs"`
	// NotRead says what could not be read, and why.
	NotRead  []string `json:"notRead,omitempty"`
	Workload Node     `json:"workload"`
}

// Cause is a reason and what to do about it.
type Cause struct {
	Reason string `json:"reason"`
	Advice string `json:"advice"`
}

// explain draws the conclusions from a finished tree.
func explain(root Node, notRead []string) Explanation {
	e := Explanation{Workload: root, NotRead: notRead, Differs: root.differs()}
	reasons := root.reasons(Said.Failing, nil)
	switch {
	case root.Failing():
		e.State = Failing
	case !root.Available():
		e.State = Waiting
	case len(reasons) > 0:
		e.State = PartlyFailing
	default:
		e.State = Ready
	}
	if e.State == Waiting && len(reasons) == 0 {
		if reasons = root.reasons(Said.Delayed, nil); len(reasons) == 0 {
			reasons = []string{reason.InstancesProvisioning}
		}
	}
	slices.SortStableFunc(reasons, reason.Compare)
	for _, r := range slices.Compact(reasons) {
		e.Causes = append(e.Causes, Cause{r, reason.Advice(r)})
	}
	return e
}

// reasons are the canonical reasons of all nodes in a tree that are like this.
func (n *Node) reasons(like func(Said) bool, found []string) []string {
	if like(n.Said) {
		found = append(found, reason.Canonical(n.Reason))
	}
	for i := range n.Children {
		found = n.Children[i].reasons(like, found)
	}
	return found
}

func (n *Node) differs() bool {
	return n.Stored != nil || slices.ContainsFunc(n.Children, func(c Node) bool { return c.differs() })
}
