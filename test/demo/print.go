package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// timeColumn is where the time of an act is printed, if its line leaves room.
const timeColumn = 72

// printer prints the story. The first error of its writer is kept and ends all
// printing.
type printer struct {
	out io.Writer
	err error
	// lineWidth is how much of the current line is taken.
	lineWidth int
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

// say prints a text of its own.
func (p *printer) say(text string) { p.printf("%s\n", strings.TrimRight(text, "\n")) }

// title prints what a step is about.
func (p *printer) title(s step) { p.printf("\n%s %s\n\n", s.name, s.title) }

// begin prints the line of an act and leaves it open, so that it can be seen
// while the act lasts.
func (p *printer) begin(line string) {
	p.lineWidth = utf8.RuneCountInString(line)
	p.printf("%s", line)
}

// end closes that line with the time that the act took, and prints its output.
func (p *printer) end(took time.Duration, output string) {
	p.printf("%s[%s]\n", strings.Repeat(" ", max(2, timeColumn-p.lineWidth)), duration(took))
	if output != "" {
		p.printf("%s\n", strings.TrimRight(output, "\n"))
	}
}

// duration is short: nobody reads microseconds.
func duration(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

// lastLines are at most that many lines from the end of a text.
func lastLines(text string, count int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-count):], "\n")
}
