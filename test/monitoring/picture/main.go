// Command picture draws the panels of the dashboard from a Prometheus that
// scrapes Causeway, for docs/dashboard.png: each panel's own queries, over the
// last minutes. To draw it anew, play the demo with KEEP=1, have a Prometheus
// scrape the metrics addresses that its folder lists and the API server, every
// few seconds, and let customers and a provider do something for a while.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image/color"
	"math"
	"os"
	"regexp"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/causeway-webhook/causeway/test/monitoring"
)

const (
	columns     = 3
	panelWidth  = 5.2 * vg.Inch
	panelHeight = 2.5 * vg.Inch
)

func main() {
	server := flag.String("prometheus", "http://127.0.0.1:9090", "the Prometheus to ask")
	component := flag.String("component", "../../deploy/components/monitoring", "the folder of the dashboard")
	span := flag.Duration("span", 5*time.Minute, "how far back")
	interval := flag.Duration("rate", 30*time.Second, "what rates are taken over")
	out := flag.String("out", "../../docs/dashboard.png", "the file to write")
	flag.Parse()
	if err := run(context.Background(), *server, *component, *out, *span, *interval); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, server, component, out string, span, interval time.Duration) (err error) {
	panels, err := monitoring.Dashboard(component)
	if err != nil {
		return err
	}
	client, err := api.NewClient(api.Config{Address: server})
	if err != nil {
		return fmt.Errorf("reaching Prometheus: %w", err)
	}
	now := time.Now()
	over := v1.Range{Start: now.Add(-span), End: now, Step: span / 150}
	rows := (len(panels) + columns - 1) / columns
	canvas := vgimg.NewWith(vgimg.UseWH(columns*panelWidth, vg.Length(rows)*panelHeight), vgimg.UseDPI(72), vgimg.UseBackgroundColor(color.White))
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: vg.Points(14), PadY: vg.Points(12), PadTop: vg.Points(8), PadLeft: vg.Points(8), PadRight: vg.Points(8), PadBottom: vg.Points(8)}
	for i, panel := range panels {
		p, err := drawn(ctx, v1.NewAPI(client), panel, over, interval)
		if err != nil {
			return fmt.Errorf("panel %q: %w", panel.Title, err)
		}
		p.Draw(tiles.At(draw.New(canvas), i%columns, i/columns))
	}
	file, err := os.Create(out)
	if err != nil {
		return fmt.Errorf("writing the picture: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = vgimg.PngCanvas{Canvas: canvas}.WriteTo(file)
	return err
}

// drawn is one panel with the series of all its queries.
func drawn(ctx context.Context, prometheus v1.API, panel monitoring.Panel, over v1.Range, interval time.Duration) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = panel.Title
	p.Title.TextStyle.Font.Size = font.Points(11)
	p.X.Tick.Marker = plot.TimeTicks{Format: "15:04", Time: plot.UTCUnixTime}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = float64(over.Start.Unix()), float64(over.End.Unix()), 0, 0
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.TextStyle.Font.Size = font.Points(7)
	p.Legend.Padding = vg.Points(1)
	p.Add(plotter.NewGrid())
	n := 0
	for _, target := range panel.Targets {
		value, _, _, err := prometheus.QueryRange(ctx, monitoring.At(target.Expr, interval), over)
		if err != nil {
			return nil, err
		}
		matrix, ok := value.(model.Matrix)
		if !ok {
			return nil, fmt.Errorf("%s is no range of values", value.Type())
		}
		for _, series := range matrix {
			var points plotter.XYs
			for _, s := range series.Values {
				if y := float64(s.Value); !math.IsNaN(y) && !math.IsInf(y, 0) {
					points = append(points, plotter.XY{X: float64(s.Timestamp) / 1000, Y: y})
				}
			}
			if len(points) == 0 {
				continue
			}
			line, err := plotter.NewLine(points)
			if err != nil {
				return nil, err
			}
			line.Color, line.Width = plotutil.Color(n), vg.Points(1.4)
			line.Dashes = plotutil.Dashes(n / len(plotutil.DefaultColors))
			p.Add(line)
			p.Legend.Add(legend(target.LegendFormat, series.Metric), line)
			n++
		}
	}
	if p.Y.Max <= 0 {
		p.Y.Max = 1
	}
	// Room above the lines for the legend.
	p.Y.Max *= 1.05 + 0.12*float64(n)
	return p, nil
}

var placeholder = regexp.MustCompile(`{{\s*(\w+)\s*}}`)

// legend fills in Grafana's format with the labels of a series.
func legend(format string, labels model.Metric) string {
	return placeholder.ReplaceAllStringFunc(format, func(found string) string {
		return string(labels[model.LabelName(placeholder.FindStringSubmatch(found)[1])])
	})
}
