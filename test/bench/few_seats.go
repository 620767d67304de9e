package main

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
	"github.com/causeway-webhook/causeway/test/bench/report"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
)

// fewSeats counts what becomes of writes at an API server that serves 20 requests
// at a time, each of which may be held by a write that waits for Causeway.
func fewSeats(ctx context.Context, e *env) (_ report.Table, err error) {
	if err := e.close(); err != nil {
		return report.Table{}, err
	}
	plane, err := e.startWithCauseway(ctx, environment.Options{
		DeployOverlay: "status-only", Statuspatch: 1,
		ControlPlane: controlplane.Options{APIServerFlags: []string{"--max-requests-inflight=14", "--max-mutating-requests-inflight=6"}},
	})
	if err != nil {
		return report.Table{}, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	const writers, each = 64, 10
	f, err := newFleet(ctx, plane, "few-seats", nil, writers, writers/4, 4)
	if err != nil {
		return report.Table{}, err
	}
	if err := called(ctx, f); err != nil {
		return report.Table{}, err
	}
	storms := short(e, 10, 1)
	var took []float64
	var failed atomic.Int64
	flip := func(ctx context.Context, w writer, n int) error {
		if err := f.flip(ctx, w, n); err != nil {
			failed.Add(1)
			e.say("a write failed: %v", err)
		}
		return context.Cause(ctx)
	}
	meanwhile, err := counted(ctx, plane, func() error {
		for range storms {
			h, err := storm(ctx, f.writers, each, flip)
			if err != nil {
				return err
			}
			took = append(took, h.throughput())
		}
		return nil
	})
	if err != nil {
		return report.Table{}, err
	}
	writes := float64(storms * writers * each)
	return report.Table{
		Title: "An API server of 20 seats",
		About: "64 ordinary writers write ten times each, at an API server that serves 20 requests at a time; every write changes what the four\n" +
			"deployments or their Workload have to say. Each seat can be held by a write that waits for Causeway, which has to write the\n" +
			"parents through the same API server: its FlowSchemas give it seats that no writer can take.",
		Counts: []report.Count{
			{Name: "storms of 640 writes", Value: float64(storms)},
			{Name: "writes that succeeded", Value: writes - float64(failed.Load()), Bar: pairs.AtLeast(writes)},
			{Name: "timeouts", Value: meanwhile.timeouts(), Bar: pairs.AtMost(0)},
			{Name: "reviews left to the repair loop", Value: meanwhile.deferred()},
			{Name: "throughput, the median storm", Value: pairs.Quantile(took, 0.5), Unit: "writes/s"},
		},
	}, nil
}
