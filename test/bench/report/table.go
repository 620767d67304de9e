package report

import (
	"math"
	"strconv"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
)

// Table is the outcome of one case.
type Table struct {
	// Title says what is measured.
	Title string
	// About is a paragraph of Markdown: how, against what, and what that leaves out.
	About string
	// Measures are what was measured in pairs.
	Measures []Measure
	// Counts are what was counted or measured once.
	Counts []Count
	// Notes are further paragraphs of Markdown, such as why a bar was missed.
	Notes []string
}

// Measure is one number measured of several things against the same baseline.
type Measure struct {
	// Name and Unit are like "throughput" and "writes/s".
	Name, Unit string
	// Baseline is what all is compared with, and AA that baseline against itself.
	Baseline string
	AA       pairs.Series
	Rows     []Row
}

// Row is one thing compared with the baseline.
type Row struct {
	Name   string
	Series pairs.Series
	// Bar is what the ratio has to reach; none if zero.
	Bar pairs.Bar
}

// Count is a number that is compared with nothing but a bar.
type Count struct {
	Name, Unit string
	Value      float64
	Bar        pairs.Bar
}

// Missed tells whether any bar of the table was missed.
func (t Table) Missed() bool {
	for _, m := range t.Measures {
		for _, r := range m.Rows {
			if r.Bar.JudgeRatio(r.Series, m.AA) == pairs.Missed {
				return true
			}
		}
	}
	for _, c := range t.Counts {
		if c.Bar.Judge(c.Value) == pairs.Missed {
			return true
		}
	}
	return false
}

// lines are the table's rows as text, their headings first. Both the terminal
// and Markdown show them.
func (m Measure) lines() [][]string {
	lines := [][]string{
		{m.Name, m.Unit, "ratio", "quartiles", "bar", "verdict"},
		append([]string{m.Baseline + ", against itself"}, cells(m.AA.Base(), m.AA, "", pairs.Unjudged)...),
	}
	for _, r := range m.Rows {
		lines = append(lines, append([]string{r.Name}, cells(r.Series.Other(), r.Series, r.Bar.String(), r.Bar.JudgeRatio(r.Series, m.AA))...))
	}
	return lines
}

func cells(absolute pairs.Quartiles, s pairs.Series, bar string, verdict pairs.Verdict) []string {
	q := s.Ratio()
	return []string{number(absolute.Median), ratio(q.Median), ratio(q.Lower) + " to " + ratio(q.Upper), bar, string(verdict)}
}

func countLines(counts []Count) [][]string {
	lines := [][]string{{"counted", "", "bar", "verdict"}}
	for _, c := range counts {
		value := number(c.Value)
		if c.Unit != "" {
			value += " " + c.Unit
		}
		lines = append(lines, []string{c.Name, value, c.Bar.String(), string(c.Bar.Judge(c.Value))})
	}
	return lines
}

func ratio(r float64) string { return strconv.FormatFloat(r, 'f', 2, 64) }

// number has three significant digits and no exponent; whole numbers are whole.
func number(v float64) string {
	decimals := 0
	if v != math.Trunc(v) && v != 0 {
		decimals = max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
