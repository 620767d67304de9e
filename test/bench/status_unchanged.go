package main

import (
	"context"
	"errors"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
	"github.com/causeway-webhook/causeway/test/bench/report"
)

// statusUnchanged measures writes of an Instance's status that touch no condition,
// which are most of them: they never leave the API server.
func statusUnchanged(ctx context.Context, e *env) (report.Table, error) {
	p, err := e.planes(ctx)
	if err != nil {
		return report.Table{}, err
	}
	fleets, err := newFleets(ctx, "status-unchanged", 64, 64, plain(p.bare), plain(p.again), plain(p.causeway))
	if err != nil {
		return report.Table{}, err
	}
	bare, again, own := fleets[0], fleets[1], fleets[2]
	if err := called(ctx, own); err != nil {
		return report.Table{}, err
	}
	each := short(e, 3, 2)
	baseline := halfOf(bare.writers, each, bare.address)
	taken, meanwhile, err := e.measureAndCount(ctx, p.causeway,
		pairs.Comparison[half]{Base: baseline, Other: halfOf(again.writers, each, again.address)},
		pairs.Comparison[half]{Base: baseline, Other: halfOf(own.writers, each, own.address)})
	if err != nil {
		return report.Table{}, err
	}
	writes := e.measured(len(own.writers), each)
	if meanwhile.excluded() < writes {
		return report.Table{}, errors.New("the API server did not judge every write by Causeway's match condition, so that it was not called proves nothing")
	}
	if err := e.profile(ctx, "status-unchanged", p.causeway.Sidecars[0], halfOf(own.writers, each, own.address)); err != nil {
		return report.Table{}, err
	}
	return report.Table{
		Title: "Status writes that touch no condition",
		About: "64 writers write addresses into the statuses of their Instances. A match condition keeps such a write in the API server; what it\n" +
			"costs there, and what it costs that statuspatch watches Instances, is compared with an API server that has no webhook.",
		Measures: []report.Measure{{
			Name: "throughput", Unit: "writes/s", Baseline: "no webhook", AA: pairs.Of(taken[0], half.throughput),
			Rows: []report.Row{{Name: "Causeway", Series: pairs.Of(taken[1], half.throughput), Bar: pairs.AtLeast(0.95)}},
		}},
		Counts: []report.Count{
			{Name: "writes beside Causeway", Value: writes},
			{Name: "webhook calls", Value: meanwhile.calls(), Bar: pairs.AtMost(0)},
			{Name: "match conditions that could not be evaluated", Value: meanwhile.conditionErrors(), Bar: pairs.AtMost(0)},
		},
	}, nil
}
