package main

import (
	"context"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
	"github.com/causeway-webhook/causeway/test/bench/report"
)

// oneWriter measures how long a single writer waits, where nobody else does
// anything.
func oneWriter(ctx context.Context, e *env) (report.Table, error) {
	p, err := e.planes(ctx)
	if err != nil {
		return report.Table{}, err
	}
	fleets, err := newFleets(ctx, "one-writer", 1, 1, plain(p.bare), plain(p.again), plain(p.causeway))
	if err != nil {
		return report.Table{}, err
	}
	bare, again, own := fleets[0], fleets[1], fleets[2]
	if err := called(ctx, own); err != nil {
		return report.Table{}, err
	}
	each := short(e, 25, 10)
	threeWrites := halfOf(bare.writers, each, bare.flipAll)
	taken, meanwhile, err := e.measureAndCount(ctx, p.causeway,
		pairs.Comparison[half]{Base: threeWrites, Other: halfOf(again.writers, each, again.flipAll)},
		pairs.Comparison[half]{Base: threeWrites, Other: halfOf(own.writers, each, own.flip)})
	if err != nil {
		return report.Table{}, err
	}
	if err := e.profile(ctx, "one-writer", p.causeway.Sidecars[0], halfOf(own.writers, each, own.flip)); err != nil {
		return report.Table{}, err
	}
	return report.Table{
		Title: "One writer",
		About: "One writer and nobody else; every write changes what both parents have to say. The baseline is the same three writes by the writer\n" +
			"itself, one after the other, without any webhook.",
		Measures: []report.Measure{{
			Name: "p50 of a write", Unit: "ms", Baseline: "the three bare writes", AA: pairs.Of(taken[0], half.p50),
			Rows: []report.Row{{Name: "Causeway", Series: pairs.Of(taken[1], half.p50), Bar: pairs.AtMost(1.15)}},
		}},
		Counts: []report.Count{
			{Name: "timeouts", Value: meanwhile.timeouts(), Bar: pairs.AtMost(0)},
			{Name: "reviews left to the repair loop", Value: meanwhile.deferred()},
		},
	}, nil
}
