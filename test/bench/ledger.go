package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"golang.org/x/perf/benchfmt"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
	"github.com/causeway-webhook/causeway/test/bench/report"
	"github.com/causeway-webhook/causeway/test/environment"
)

// ledgerCost measures that an update costs the ledger the same for ten siblings
// as for ten thousand, by the product's own benchmark.
func ledgerCost(ctx context.Context, e *env) (report.Table, error) {
	program := filepath.Join(e.dir, "ledger.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "./statuspatch/ledger")
	build.Dir = environment.Root()
	if out, err := build.CombinedOutput(); err != nil {
		return report.Table{}, fmt.Errorf("building the ledger's benchmark: %w\n%s", err, out)
	}
	updates := short(e, 100_000, 1000)
	among := func(siblings int) func(context.Context) (update, error) {
		return func(ctx context.Context) (update, error) { return updateAmong(ctx, program, siblings, updates) }
	}
	ten, tenThousand := among(10), among(10_000)
	taken, err := pairs.Take(ctx, e.pairs,
		pairs.Comparison[update]{Base: ten, Other: ten},
		pairs.Comparison[update]{Base: ten, Other: tenThousand})
	if err != nil {
		return report.Table{}, err
	}
	took := func(u update) float64 { return u.micros }
	allocated := func(u update) float64 { return u.allocations }
	many := pairs.Of(taken[1], took)
	return report.Table{
		Title: "An update of the ledger",
		About: "One change of a random Instance, from its review to the watch event that settles it, and what both parents are computed from, as\n" +
			"measured by `go test -bench Update ./statuspatch/ledger`. What ten thousand siblings cost more than ten is memory that is not in\n" +
			"the processor's cache.",
		Measures: []report.Measure{{
			Name: "an update", Unit: "µs", Baseline: "among 10 siblings", AA: pairs.Of(taken[0], took),
			Rows: []report.Row{{Name: "among 10,000 siblings", Series: many, Bar: pairs.AtMost(2)}},
		}},
		Counts: []report.Count{
			{Name: "an update among 10,000 siblings", Value: many.Other().Median, Unit: "µs", Bar: pairs.AtMost(2)},
			{
				Name: "allocations among 10,000 siblings, less those among 10", Bar: pairs.AtMost(0),
				Value: pairs.Of(taken[1], allocated).Other().Median - pairs.Of(taken[1], allocated).Base().Median,
			},
		},
	}, nil
}

// update is what one costs on average.
type update struct{ micros, allocations float64 }

// updateAmong runs the benchmark once.
func updateAmong(ctx context.Context, program string, siblings, updates int) (update, error) {
	bench := exec.CommandContext(ctx, program, "-test.run=^$", "-test.cpu=1",
		fmt.Sprintf("-test.bench=^BenchmarkUpdate$/^siblings=%d$", siblings), fmt.Sprintf("-test.benchtime=%dx", updates))
	out, err := bench.Output()
	if err != nil {
		return update{}, fmt.Errorf("running the ledger's benchmark: %w\n%s", err, out)
	}
	results := benchfmt.NewReader(bytes.NewReader(out), "ledger")
	for results.Scan() {
		result, ok := results.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		seconds, timed := result.Value("sec/op")
		allocations, counted := result.Value("allocs/op")
		if timed && counted {
			return update{seconds * 1e6, allocations}, nil
		}
	}
	return update{}, errors.Join(fmt.Errorf("the ledger's benchmark printed no result:\n%s", out), results.Err())
}
