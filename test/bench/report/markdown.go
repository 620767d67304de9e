package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
)

// Report is a whole run.
type Report struct {
	Machine Machine
	// Took is how long all of it took.
	Took time.Duration
	// Pairs is how many pairs each series has.
	Pairs  int
	Tables []Table
}

// Names of what Write writes.
const (
	markdownName = "benchmarks.md"
	plotName     = "benchmarks.svg"
)

// Markdown is the report as docs/benchmarks.md has it.
func (r Report) Markdown() string {
	b := new(strings.Builder)
	fmt.Fprintf(b, `<!-- Written by make bench; not to be edited. -->
# Benchmarks

`+"`make bench`"+` measures everything on this page side by side, in one run, on a real control plane. This run took %s.

| | |
| --- | --- |
| CPU | %s, %d cores |
| memory | %s |
| kernel | %s |
| Go | %s |
| kube-apiserver | %s |
| etcd | %s, which does not wait for the disk (`+"`--unsafe-no-fsync`"+`) |
| Causeway | %s |

Writers, webhooks, API server and etcd share these cores. Where Causeway lives beside an API server with cores to spare, what it
takes shows less.

**How to read it.** What is compared is measured in %d short pairs, in alternating order, and the ratio is the median of the ratios
within the pairs; half of those lie between the quartiles. The first row of each table is the baseline against itself, at a second
API server of the same kind where one takes part, and tells how far to believe the rest: a bar counts as missed only where the
ratio misses it by more than that row misses 1. Within that it says "within noise".

![The ratios of all tables with their quartiles and bars](%s)
`, minutes(r.Took),
		r.Machine.CPU, r.Machine.Cores, r.Machine.Memory, r.Machine.Kernel, r.Machine.Go, r.Machine.APIServer, r.Machine.Etcd, r.Machine.Causeway,
		r.Pairs, plotName)
	for _, t := range r.Tables {
		t.markdown(b)
	}
	return b.String()
}

func minutes(d time.Duration) string {
	if n := int(d.Round(time.Minute).Minutes()); n != 1 {
		return fmt.Sprintf("%d minutes", n)
	}
	return "1 minute"
}

func (t Table) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", t.Title, t.About)
	for _, m := range t.Measures {
		grid(b, m.lines(), 1, 2)
	}
	if len(t.Counts) > 0 {
		grid(b, countLines(t.Counts), 1)
	}
	for _, note := range t.Notes {
		fmt.Fprintf(b, "\n%s\n", note)
	}
}

// grid is a Markdown table; the columns given are of numbers. What is missed
// stands out.
func grid(b *strings.Builder, lines [][]string, numbers ...int) {
	rule := make([]string, len(lines[0]))
	for i := range rule {
		rule[i] = "---"
	}
	for _, n := range numbers {
		rule[n] = "---:"
	}
	b.WriteString("\n")
	for i, line := range lines {
		cells := strings.Join(line, " | ")
		if line[len(line)-1] == string(pairs.Missed) {
			cells = strings.TrimSuffix(cells, string(pairs.Missed)) + "**missed**"
		}
		fmt.Fprintf(b, "| %s |\n", cells)
		if i == 0 {
			fmt.Fprintf(b, "| %s |\n", strings.Join(rule, " | "))
		}
	}
}
