package main

import (
	"context"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
	"github.com/causeway-webhook/causeway/test/bench/report"
)

// spread measures writers that share no parent, so that no parent write can be
// shared: each Instance write costs two more. The limit is the same three writes
// made by the writers themselves.
func spread(ctx context.Context, e *env) (report.Table, error) {
	p, err := e.planes(ctx)
	if err != nil {
		return report.Table{}, err
	}
	fleets, err := newFleets(ctx, "spread", 64, 1, plain(p.bare), plain(p.again), plain(p.causeway))
	if err != nil {
		return report.Table{}, err
	}
	bare, again, own := fleets[0], fleets[1], fleets[2]
	if err := called(ctx, own); err != nil {
		return report.Table{}, err
	}
	each := short(e, 2, 2)
	limit := halfOf(bare.writers, each, bare.flipAll)
	taken, meanwhile, err := e.measureAndCount(ctx, p.causeway,
		pairs.Comparison[half]{Base: limit, Other: halfOf(again.writers, each, again.flipAll)},
		pairs.Comparison[half]{Base: limit, Other: halfOf(own.writers, each, own.flip)})
	if err != nil {
		return report.Table{}, err
	}
	right, err := own.parentsRight(ctx)
	if err != nil {
		return report.Table{}, err
	}
	writes := e.measured(len(own.writers), each)
	const parents = 2 * 64
	if err := e.profile(ctx, "spread", p.causeway.Sidecars[0], halfOf(own.writers, each, own.flip)); err != nil {
		return report.Table{}, err
	}
	return report.Table{
		Title: "Spread",
		About: "64 writers, each with an Instance, a deployment and a Workload of its own; every write changes what both parents have to say, and\n" +
			"no parent write can be shared. The baseline is the limit: without any webhook, each writer writes its Instance and then both\n" +
			"parents itself, and nobody works out what to write. Three writes count as one.",
		Measures: []report.Measure{{
			Name: "throughput", Unit: "writes/s", Baseline: "the three bare writes", AA: pairs.Of(taken[0], half.throughput),
			Rows: []report.Row{{Name: "Causeway", Series: pairs.Of(taken[1], half.throughput), Bar: pairs.AtLeast(0.85)}},
		}},
		Counts: []report.Count{
			{Name: "Instance writes beside Causeway", Value: writes},
			{Name: "timeouts", Value: meanwhile.timeouts(), Bar: pairs.AtMost(0)},
			{Name: "reviews left to the repair loop", Value: meanwhile.deferred()},
			{Name: "parent writes, both kinds, per Instance write", Value: meanwhile.parentWrites() / writes},
			{Name: "parents that were right after the last write, of 128", Value: float64(right), Bar: pairs.AtLeast(parents)},
		},
	}, nil
}
