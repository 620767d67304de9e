package report

import (
	"bytes"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
)

// plotted is one line of the plot.
type plotted struct {
	label string
	ratio pairs.Quartiles
	bar   pairs.Bar
	aa    bool
}

func (r Report) plotted() []plotted {
	var all []plotted
	for _, t := range r.Tables {
		for _, m := range t.Measures {
			name := t.Title + ", " + m.Name + ": "
			all = append(all, plotted{label: name + m.Baseline + ", against itself", ratio: m.AA.Ratio(), aa: true})
			for _, row := range m.Rows {
				all = append(all, plotted{label: name + row.Name, ratio: row.Series.Ratio(), bar: row.Bar})
			}
		}
	}
	// The first is on top.
	slices.Reverse(all)
	return all
}

var (
	grey  = color.Gray{Y: 150}
	blue  = color.RGBA{R: 0x1f, G: 0x5f, B: 0xa8, A: 0xff}
	red   = color.RGBA{R: 0xb8, G: 0x32, B: 0x2a, A: 0xff}
	white = color.White
)

// SVG is a plot of all ratios: a point for the median, a line between the
// quartiles, and a tick where the bar is. The baselines against themselves are
// grey.
func (r Report) SVG() ([]byte, error) {
	rows := r.plotted()
	p := plot.New()
	p.BackgroundColor = white
	p.X.Label.Text = "ratio to the baseline; a red tick is the bar"
	p.Add(plotter.NewGrid())

	lowest, highest := -0.5, float64(len(rows))-0.5
	one, err := plotter.NewLine(plotter.XYs{{X: 1, Y: lowest}, {X: 1, Y: highest}})
	if err != nil {
		return nil, fmt.Errorf("plotting: %w", err)
	}
	one.Color = grey
	p.Add(one)
	labels := make([]string, len(rows))
	for i, row := range rows {
		labels[i] = "  " + row.label + "   " + ratio(row.ratio.Median)
		if err := addRow(p, float64(i), row); err != nil {
			return nil, fmt.Errorf("plotting %s: %w", row.label, err)
		}
	}
	p.NominalY(labels...)
	// After all is added, since that widens them. What lies beyond says so by its
	// label.
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 2, lowest, highest

	to, err := p.WriterTo(12*vg.Inch, vg.Length(1+0.25*float64(len(rows)))*vg.Inch, "svg")
	if err != nil {
		return nil, fmt.Errorf("plotting: %w", err)
	}
	var out bytes.Buffer
	if _, err := to.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("plotting: %w", err)
	}
	return out.Bytes(), nil
}

func addRow(p *plot.Plot, y float64, row plotted) error {
	spread, err := plotter.NewLine(plotter.XYs{{X: row.ratio.Lower, Y: y}, {X: row.ratio.Upper, Y: y}})
	if err != nil {
		return err
	}
	median, err := plotter.NewScatter(plotter.XYs{{X: row.ratio.Median, Y: y}})
	if err != nil {
		return err
	}
	spread.Width, median.GlyphStyle.Shape, median.GlyphStyle.Radius = vg.Points(2), draw.CircleGlyph{}, vg.Points(3)
	spread.Color, median.Color = blue, blue
	if row.aa {
		spread.Color, median.Color = grey, grey
	}
	p.Add(spread, median)
	if value, ok := row.bar.Value(); ok {
		tick, err := plotter.NewLine(plotter.XYs{{X: value, Y: y - 0.35}, {X: value, Y: y + 0.35}})
		if err != nil {
			return err
		}
		tick.Color, tick.Width = red, vg.Points(1.5)
		p.Add(tick)
	}
	return nil
}
