package main

import (
	"context"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
	"github.com/causeway-webhook/causeway/test/bench/report"
)

// hotParent measures the worst of all cases: everybody writes Instances of one
// deployment, and each write changes what both parents have to say.
func hotParent(ctx context.Context, e *env) (table report.Table, err error) {
	p, err := e.planes(ctx)
	if err != nil {
		return report.Table{}, err
	}
	err = e.withBaselines(ctx, p, func() (err error) {
		table, err = hotParentAgainst(ctx, e, p)
		return err
	})
	return table, err
}

func hotParentAgainst(ctx context.Context, e *env, p *planes) (report.Table, error) {
	fleets, err := newFleets(ctx, "hot-parent", 64, 64,
		place{p.bare, baselineYes}, place{p.again, baselineYes}, place{p.bare, baselineNaive}, plain(p.causeway))
	if err != nil {
		return report.Table{}, err
	}
	yes, again, naive, own := fleets[0], fleets[1], fleets[2], fleets[3]
	for f, baseline := range map[*fleet]string{yes: baselineYes, again: baselineYes, naive: baselineNaive} {
		if err := baselineCalled(ctx, f, baseline); err != nil {
			return report.Table{}, err
		}
	}
	if err := called(ctx, own); err != nil {
		return report.Table{}, err
	}

	each := short(e, 3, 2)
	baseline := halfOf(yes.writers, each, yes.flip)
	taken, meanwhile, err := e.measureAndCount(ctx, p.causeway,
		pairs.Comparison[half]{Base: baseline, Other: halfOf(again.writers, each, again.flip)},
		pairs.Comparison[half]{Base: baseline, Other: halfOf(own.writers, each, own.flip)})
	if err != nil {
		return report.Table{}, err
	}
	right, err := own.parentsRight(ctx)
	if err != nil {
		return report.Table{}, err
	}

	// A few pairs are enough to see it collapse, and each takes many times as long.
	few := min(e.pairs, 6)
	naively, err := pairs.Take(ctx, few,
		pairs.Comparison[half]{Base: halfOf(yes.writers, 2, yes.flip), Other: halfOf(naive.writers, 2, naive.flip)})
	if err != nil {
		return report.Table{}, err
	}
	server, err := serverCounters(ctx, p.bare)
	if err != nil {
		return report.Table{}, err
	}
	writes := e.measured(len(own.writers), each)
	if err := e.profile(ctx, "hot-parent", p.causeway.Sidecars[0], halfOf(own.writers, each, own.flip)); err != nil {
		return report.Table{}, err
	}
	return report.Table{
		Title: "Hot parent",
		About: "64 writers, each with an Instance of the same deployment; every write changes what the deployment and its Workload have to say.\n" +
			"The baseline is a webhook on the same rule, built with controller-runtime, that says yes and does nothing. \"Naive\" reads and\n" +
			"patches both parents for each review, and tries again on a conflict; it is measured in fewer and shorter pairs.",
		Measures: []report.Measure{
			{
				Name: "throughput", Unit: "writes/s", Baseline: "a webhook that says yes", AA: pairs.Of(taken[0], half.throughput),
				Rows: []report.Row{
					{Name: "Causeway", Series: pairs.Of(taken[1], half.throughput), Bar: pairs.AtLeast(0.8)},
					{Name: "naive nested patches", Series: pairs.Of(naively[0], half.throughput)},
				},
			},
			{
				Name: "p99 of a write", Unit: "ms", Baseline: "a webhook that says yes", AA: pairs.Of(taken[0], half.p99),
				Rows: []report.Row{
					{Name: "Causeway", Series: pairs.Of(taken[1], half.p99), Bar: pairs.AtMost(1.5)},
					{Name: "naive nested patches", Series: pairs.Of(naively[0], half.p99)},
				},
			},
		},
		Counts: []report.Count{
			{Name: "Instance writes beside Causeway", Value: writes},
			{Name: "timeouts", Value: meanwhile.timeouts(), Bar: pairs.AtMost(0)},
			{Name: "reviews left to the repair loop", Value: meanwhile.deferred()},
			{Name: "parent writes, both kinds, per Instance write", Value: meanwhile.parentWrites() / writes, Bar: pairs.AtMost(0.15)},
			{Name: "parents that were right after the last write, of 2", Value: float64(right), Bar: pairs.AtLeast(2)},
			{Name: "timeouts of naive nested patches, per write", Value: server.sum(webhookFailOpens, "name", baselineNaive) / float64(few*2*len(naive.writers))},
		},
	}, nil
}
