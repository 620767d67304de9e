package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
	"github.com/causeway-webhook/causeway/test/bench/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

func series(base float64, ratios ...float64) pairs.Series {
	var s pairs.Series
	for _, r := range ratios {
		s = append(s, pairs.Pair[float64]{Base: base, Other: base * r})
	}
	return s
}

// sample has every kind of line: met, within noise, missed, unjudged; counts with
// and without a unit and a bar; and a case that was counted alone.
func sample() report.Report {
	aa := series(800, 0.96, 0.98, 1)
	return report.Report{
		Machine: report.Machine{CPU: "Example 9000", Cores: 2, Memory: "8 GiB", Kernel: "Linux 6.1", Go: "go1.26.0", APIServer: "v1.37.2", Etcd: "3.7.0", Causeway: "0123456789ab"},
		Took:    22 * time.Minute, Pairs: 3,
		Tables: []report.Table{
			{
				Title: "Hot parent", About: "64 writers, one deployment.",
				Measures: []report.Measure{{
					Name: "throughput", Unit: "writes/s", Baseline: "a webhook that says yes", AA: aa,
					Rows: []report.Row{
						{Name: "Causeway", Series: series(800, 0.9, 0.875, 0.85), Bar: pairs.AtLeast(0.8)},
						{Name: "Causeway, slower", Series: series(800, 0.75, 0.79, 0.85), Bar: pairs.AtLeast(0.8)},
						{Name: "Causeway, too slow", Series: series(800, 0.5, 0.5, 0.5), Bar: pairs.AtLeast(0.8)},
						{Name: "naive nested patches", Series: series(800, 0.0625, 0.0625, 0.125)},
					},
				}},
				Counts: []report.Count{
					{Name: "timeouts", Bar: pairs.AtMost(0)},
					{Name: "parent writes per Instance write", Value: 0.0437, Bar: pairs.AtMost(0.15)},
				},
				Notes: []string{"Naive patches end in deadlines."},
			},
			{
				Title: "Memory", About: "100,000 Instances.",
				Counts: []report.Count{
					{Name: "statuspatch", Value: 312.4, Unit: "MB", Bar: pairs.AtMost(250)},
					{Name: "Instances", Value: 100000},
				},
			},
		},
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update")
	assert.Equal(t, string(want), got)
}

func TestPrint(t *testing.T) {
	r, out := sample(), new(strings.Builder)
	out.WriteString(r.Machine.String())
	for _, table := range r.Tables {
		require.NoError(t, report.Print(out, table))
	}
	golden(t, "report.txt", out.String())
}

func TestMarkdown(t *testing.T) { golden(t, "benchmarks.md", sample().Markdown()) }

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, sample().Write(dir))
	text, err := os.ReadFile(filepath.Join(dir, "benchmarks.md"))
	require.NoError(t, err)
	assert.Equal(t, sample().Markdown(), string(text))
	svg, err := os.ReadFile(filepath.Join(dir, "benchmarks.svg"))
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(svg, []byte("<?xml")))
	for _, label := range []string{"Hot parent, throughput: a webhook that says yes, against itself   0.98", "Hot parent, throughput: Causeway   0.88", "Hot parent, throughput: naive nested patches   0.06"} {
		assert.Contains(t, string(svg), label)
	}
	again, err := sample().SVG()
	require.NoError(t, err)
	assert.Equal(t, string(svg), string(again), "the same numbers make the same plot")
}

func TestMissed(t *testing.T) {
	r := sample()
	assert.True(t, r.Tables[0].Missed())
	assert.True(t, r.Tables[1].Missed())
	r.Tables[0].Measures[0].Rows = r.Tables[0].Measures[0].Rows[:2]
	assert.False(t, r.Tables[0].Missed(), "within noise is not missed")
}

func TestThisMachine(t *testing.T) {
	m := report.ThisMachine(t.Context(), "/no/such/program", "/no/such/program", t.TempDir())
	assert.Equal(t, "unknown", m.APIServer)
	assert.Equal(t, "unknown", m.Etcd)
	assert.Positive(t, m.Cores)
	assert.NotEmpty(t, m.CPU)
	assert.NotEmpty(t, m.Kernel)
}
