package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Print writes a table for a terminal.
func Print(w io.Writer, t Table) error {
	if _, err := fmt.Fprintf(w, "\n%s\n", t.Title); err != nil {
		return err
	}
	for _, m := range t.Measures {
		if err := align(w, m.lines()); err != nil {
			return err
		}
	}
	if len(t.Counts) > 0 {
		if err := align(w, countLines(t.Counts)); err != nil {
			return err
		}
	}
	for _, note := range t.Notes {
		if _, err := fmt.Fprintf(w, "  %s\n", note); err != nil {
			return err
		}
	}
	return nil
}

// align prints lines in columns, indented.
func align(w io.Writer, lines [][]string) error {
	columns := new(strings.Builder)
	tabs := tabwriter.NewWriter(columns, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		_, _ = fmt.Fprintln(tabs, "  "+strings.Join(line, "\t"))
	}
	_ = tabs.Flush() // a strings.Builder takes everything
	for line := range strings.Lines(columns.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}
