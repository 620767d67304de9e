package tree

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// The kinds of nodes, from the root down.
const (
	KindWorkload   = "Workload"
	KindPlacement  = "Placement"
	KindDeployment = "WorkloadDeployment"
	KindInstance   = "Instance"
)

// Node is one thing and what there is to say about it.
type Node struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Location  string `json:"location,omitempty"`

	// Said is the answer that follows from what could be read: the condition
	// Available, of an Instance whether it is ready.
	Said `json:",inline"`
	// Stored is what the stored condition says instead, nil where it says the
	// same or cannot be judged.
	Stored *Said `json:"stored,omitempty"`

	// ReadyInstances of Instances are ready; Wanted is given where the number
	// that is asked for is another.
	ReadyInstances int  `json:"readyInstances"`
	Instances      int  `json:"instances"`
	Wanted         *int `json:"wantedInstances,omitempty"`

	// Unseen tells that the numbers and the answer come from the stored status,
	// because not all Instances are visible here.
	Unseen   bool `json:"unseen,omitempty"`
	Deleting bool `json:"deleting,omitempty"`

	Children []Node `json:"children,omitempty"`

	ordinal int
}

// Said is a condition without its type and times.
type Said struct {
	Status  metav1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason,omitempty"`
	Message string                 `json:"message,omitempty"`
}

// Available tells whether the answer is a plain yes.
func (s Said) Available() bool { return s.Status == metav1.ConditionTrue }

// Failing tells whether the answer is a no for a reason that does not pass by
// itself.
func (s Said) Failing() bool {
	return s.Status == metav1.ConditionFalse && reason.RankOf(s.Reason) >= reason.Data
}

// Delayed tells whether the answer is a no while the platform is still working
// on a reason that it names.
func (s Said) Delayed() bool {
	return s.Status == metav1.ConditionFalse && reason.RankOf(s.Reason) == reason.Working
}

func said(v rollup.Verdict) Said { return Said{v.Status, v.Reason, v.Message} }

// stored is what a condition says, and Unknown where there is none.
func stored(c *metav1.Condition) Said {
	if c == nil {
		return Said{Status: metav1.ConditionUnknown}
	}
	return Said{c.Status, c.Reason, c.Message}
}

// compareStored notes what the stored condition says, if it is something else.
// A status that was never written is no answer, and so no other one.
func (n *Node) compareStored(c *metav1.Condition) {
	if c == nil && !n.Failing() {
		return
	}
	if s := stored(c); s != n.Said {
		n.Stored = &s
	}
}

// sortChildren puts the cause first: what fails by its reason, then what is on
// its way, then what is well.
func (n *Node) sortChildren() {
	slices.SortFunc(n.Children, func(a, b Node) int {
		if c := cmp.Compare(a.order(), b.order()); c != 0 {
			return c
		}
		if a.Failing() {
			if c := reason.Compare(a.Reason, b.Reason); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(a.ordinal, b.ordinal), strings.Compare(a.Name, b.Name))
	})
}

// order is where a node stands among its siblings. One that is up but has
// something failing below it comes before one that is only on its way.
func (n *Node) order() int {
	switch {
	case n.Failing():
		return 0
	case n.failingBelow():
		return 1
	case !n.Available():
		return 2
	default:
		return 3
	}
}

func (n *Node) failingBelow() bool {
	return slices.ContainsFunc(n.Children, func(c Node) bool { return c.Failing() || c.failingBelow() })
}
