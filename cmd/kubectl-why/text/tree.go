package text

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/causeway-webhook/causeway/cmd/kubectl-why/tree"
	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// row is one node of the tree, as it is written: a label, columns, and notes
// below it.
type row struct {
	label   string
	ready   string
	reason  string
	colour  colour
	remarks []string
	// notes stand under the label, behind this many characters of branches.
	notes  []string
	branch string
}

// tree writes a Workload's tree.
func (o Options) tree(b *strings.Builder, root tree.Node) {
	var rows []row
	o.rows(&rows, root, "", "", root.Message)
	label, ready := 0, 0
	for _, r := range rows {
		label = max(label, utf8.RuneCountInString(r.label))
		ready = max(ready, len(r.ready))
	}
	for _, r := range rows {
		line := pad(r.label, label) + "  " + pad(r.ready, ready) + "  " + o.paint(r.colour, r.reason)
		if len(r.remarks) > 0 {
			line += "  " + strings.Join(r.remarks, ", ")
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		for _, note := range r.notes {
			for _, line := range o.wrap(note, utf8.RuneCountInString(r.branch)) {
				b.WriteString(r.branch + line + "\n")
			}
		}
	}
}

// rows gathers a node and what is below it. lead stands before the node, below
// before its children; told is the message printed last on the way down, which
// is not printed again.
func (o Options) rows(rows *[]row, n tree.Node, lead, below, told string) {
	r := o.row(n, lead)
	groups := o.fold(n.Children)
	r.branch = below + "  "
	if len(groups) > 0 {
		r.branch = below + "│ "
	}
	if message := plain(n.Message); message != "" && (o.Wide || n.Message != told && tells(n)) {
		r.notes = append(r.notes, message)
	}
	if n.Stored != nil {
		r.notes = append(r.notes, "stored: "+storedText(*n.Stored))
	}
	*rows = append(*rows, r)
	if n.Message != "" && !n.Available() {
		told = n.Message
	}
	for i, g := range groups {
		branch, further := "├─ ", "│  "
		if i == len(groups)-1 {
			branch, further = "└─ ", "   "
		}
		at := len(*rows)
		o.rows(rows, g.Node, below+branch, below+further, told)
		if g.more > 0 {
			(*rows)[at].remarks = append((*rows)[at].remarks, fmt.Sprintf("%d more like this", g.more))
		}
	}
}

// tells tells whether the message of a node says more than its row does: of
// what is available, and of what is on its way for no reason, it does not.
func tells(n tree.Node) bool {
	return !n.Available() && (n.Kind == tree.KindInstance || reason.RankOf(n.Reason) != reason.Default)
}

func (o Options) row(n tree.Node, lead string) row {
	r := row{label: lead + label(n), colour: nodeColour(n), reason: plain(n.Reason)}
	if n.Kind != tree.KindInstance {
		r.ready = fmt.Sprintf("%d/%d", n.ReadyInstances, n.Instances)
		if n.Wanted != nil {
			r.remarks = append(r.remarks, fmt.Sprintf("%d wanted", *n.Wanted))
		}
	}
	if n.Available() {
		r.reason = "Ready" // why it is, is nobody's question
		if n.Kind != tree.KindInstance {
			r.reason = "Available"
		}
	}
	if n.Location != "" {
		r.remarks = append(r.remarks, "at "+plain(n.Location))
	}
	if n.Deleting && n.Kind != tree.KindWorkload {
		r.remarks = append(r.remarks, "being deleted")
	}
	if n.Unseen && n.Kind == tree.KindDeployment {
		r.remarks = append(r.remarks, "as its status says")
	}
	return r
}

func label(n tree.Node) string {
	switch n.Kind {
	case tree.KindPlacement:
		return "placement " + plain(n.Name)
	case tree.KindDeployment:
		return "deployment " + n.Name
	case tree.KindInstance:
		return n.Name
	default:
		return n.Kind + " " + n.Name
	}
}

func nodeColour(n tree.Node) colour {
	switch {
	case n.Failing():
		return red
	case n.Available():
		return green
	default:
		return yellow
	}
}

func storedText(s tree.Said) string {
	if s.Reason == "" && s.Message == "" {
		return "nothing yet"
	}
	text := string(s.Status) + " " + plain(s.Reason)
	if message := plain(s.Message); message != "" {
		text += ": " + message
	}
	return text
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
