package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/causeway-webhook/causeway/cmd/kubectl-why/tree"
)

// Options say how to write.
type Options struct {
	// Width is the number of columns, 0 for no limit.
	Width int
	// Colour is for terminals.
	Colour bool
	// Wide leaves nothing out: each Instance by itself, every message.
	Wide bool
}

// Write writes explanations, in their order. Of several, those that are ready
// are one line each, and the last line counts them.
func Write(w io.Writer, explanations []tree.Explanation, o Options) error {
	var b strings.Builder
	short := len(explanations) > 1 && !o.Wide
	counts := map[tree.State]int{}
	for i, e := range explanations {
		brief := short && e.State == tree.Ready && !e.Differs
		if i > 0 && (!brief || explanations[i-1].State != tree.Ready || explanations[i-1].Differs) {
			b.WriteString("\n")
		}
		o.explanation(&b, e, brief)
		counts[e.State]++
	}
	if len(explanations) > 1 {
		fmt.Fprintf(&b, "\n%s\n", o.summary(len(explanations), counts))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (o Options) summary(total int, counts map[tree.State]int) string {
	var parts []string
	for _, s := range []tree.State{tree.Failing, tree.PartlyFailing, tree.Waiting, tree.Ready} {
		if n := counts[s]; n > 0 {
			parts = append(parts, o.paint(colours[s], fmt.Sprintf("%d %s", n, stateNames[s])))
		}
	}
	return fmt.Sprintf("%d workloads: %s.", total, strings.Join(parts, ", "))
}

var (
	stateNames = map[tree.State]string{
		tree.Failing: "failing", tree.PartlyFailing: "partly failing", tree.Waiting: "not ready yet", tree.Ready: "ready",
	}
	answers = map[tree.State]string{
		tree.Failing: "is not available", tree.PartlyFailing: "is available, but partly failing",
		tree.Waiting: "is not available yet", tree.Ready: "is available",
	}
	colours = map[tree.State]colour{
		tree.Failing: red, tree.PartlyFailing: yellow, tree.Waiting: yellow, tree.Ready: green,
	}
)

// explanation is one Workload: the answer, its cause, the advice, the tree.
func (o Options) explanation(b *strings.Builder, e tree.Explanation, brief bool) {
	fmt.Fprintf(b, "%s %s: %s.\n", o.paint(bold, "Workload "+e.Workload.Namespace+"/"+e.Workload.Name),
		o.paint(colours[e.State], answers[e.State]), ready(e.Workload))
	if e.Workload.Deleting {
		b.WriteString("It is being deleted.\n")
	}
	if brief {
		return
	}
	if message := plain(e.Workload.Message); message != "" && e.State != tree.Ready {
		b.WriteString("\n")
		o.paragraph(b, "", closed(message))
	}
	if e.State != tree.Ready {
		b.WriteString("\nWhat to do\n")
		for _, c := range e.Causes {
			o.paragraph(b, "  ", c.Reason+": "+c.Advice)
		}
	}
	b.WriteString("\n")
	o.tree(b, e.Workload)
	if len(e.NotRead) > 0 {
		b.WriteString("\n")
		for _, note := range e.NotRead {
			o.paragraph(b, "", closed(plain(note)))
		}
		o.paragraph(b, "", "What is shown is what the statuses above say.")
	}
	if e.Differs {
		b.WriteString("\n")
		o.paragraph(b, "", `"stored" is what a status says where its instances say something else: Causeway is not `+
			`installed here, is paused, or is a moment behind.`)
	}
}

// paragraph writes a text within the width, further lines a little deeper.
func (o Options) paragraph(b *strings.Builder, indent, text string) {
	further := indent
	if indent != "" {
		further += "  "
	}
	for i, line := range o.wrap(text, len(further)) {
		if i > 0 {
			indent = further
		}
		b.WriteString(indent + line + "\n")
	}
}

// minWidth is the least a text is broken to: below it, it is not read anyway.
const minWidth = 30

func (o Options) wrap(text string, taken int) []string {
	if o.Width <= 0 {
		return wrap(text, 0)
	}
	return wrap(text, max(o.Width-taken, minWidth))
}

// ready counts: "0 of 1 instances ready, 3 wanted".
func ready(n tree.Node) string {
	text := fmt.Sprintf("%d of %d instances ready", n.ReadyInstances, n.Instances)
	if n.Wanted != nil {
		text += fmt.Sprintf(", %d wanted", *n.Wanted)
	}
	return text
}

func closed(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}
