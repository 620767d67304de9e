package tree

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// instance makes the leaf of an Instance and its part of the roll-up.
func instance(i Instance) (Node, rollup.Instance) {
	c := rollup.ReadInstance(i.Deleting, i.Conditions)
	node := Node{Kind: KindInstance, Name: i.Name, Deleting: i.Deleting, ordinal: i.Ordinal}
	if c.Counts() {
		node.Instances = 1
	}
	switch ready := condition(i.Conditions, typeReady); {
	case c.Ready:
		node.ReadyInstances = 1
		node.Said = Said{Status: metav1.ConditionTrue}
	case c.Reason != "":
		// A message that is a stock sentence adds nothing to the phrase.
		node.Said = Said{metav1.ConditionFalse, c.Reason, c.Message}
		if c.Message == "" {
			node.Message = reason.Phrase(c.Reason, 1)
		}
	case ready != nil && !i.Deleting:
		// On its way: what it says itself, and no failure whatever that is.
		node.Said = Said{metav1.ConditionUnknown, ready.Reason, ready.Message}
	default:
		node.Said = Said{Status: metav1.ConditionUnknown}
	}
	return node, rollup.Instance{Member: rollup.Member{Ordinal: i.Ordinal, Name: i.Name}, Contribution: c}
}
