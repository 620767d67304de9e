package text

import "github.com/causeway-webhook/causeway/cmd/kubectl-why/tree"

// folded is a node that stands for some more just like it.
type folded struct {
	tree.Node
	more int
}

// fold gathers Instances that say the same, in the order in which the first of
// each stands. Other nodes, and Instances in a wide listing, stand for
// themselves.
func (o Options) fold(nodes []tree.Node) []folded {
	type alike struct {
		tree.Said
		deleting bool
	}
	var groups []folded
	at := map[alike]int{}
	for _, n := range nodes {
		if n.Kind == tree.KindInstance && !o.Wide {
			key := alike{n.Said, n.Deleting}
			if i, ok := at[key]; ok {
				groups[i].more++
				continue
			}
			at[key] = len(groups)
		}
		groups = append(groups, folded{Node: n})
	}
	return groups
}
