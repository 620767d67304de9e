package main

import (
	"context"
	"errors"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
	"github.com/causeway-webhook/causeway/test/bench/report"
)

// besidePlatform counts the writes that are stored on a hot parent while the
// platform's controllers write it as well: with the overlay, theirs change
// nothing.
func besidePlatform(ctx context.Context, e *env) (_ report.Table, err error) {
	plane, err := e.startBesidePlatform(ctx)
	if err != nil {
		return report.Table{}, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	f, err := newPlatformFleet(ctx, plane, "beside-platform", 1, short(e, 64, 16))
	if err != nil {
		return report.Table{}, err
	}
	if err := called(ctx, f); err != nil {
		return report.Table{}, err
	}
	// From here on no write changes how many Instances are ready, which the
	// platform would have to store.
	if _, err := storm(ctx, f.writers, 1, f.flip); err != nil {
		return report.Table{}, err
	}
	if err := quiet(ctx, plane); err != nil {
		return report.Table{}, err
	}

	platformBefore := platformParentWrites(plane)
	var h half
	var right int
	meanwhile, err := counted(ctx, plane, func() (err error) {
		if h, err = storm(ctx, f.writers, short(e, 60, 3), f.flip); err != nil {
			return err
		}
		if right, err = f.parentsRight(ctx); err != nil {
			return err
		}
		return quiet(ctx, plane)
	})
	if err != nil {
		return report.Table{}, err
	}
	platformAfter := platformParentWrites(plane)

	own := meanwhile.parentWrites()
	stored := float64(platformAfter.Stored - platformBefore.Stored)
	return report.Table{
		Title: "Hot parent beside the platform",
		About: "The same writers, while a stand-in for the platform's controllers writes both parents, too: the workload controller on each of its\n" +
			"passes, the deployment controller when its own result differs from what is stored. No write changes how many Instances are\n" +
			"ready, so the platform has nothing of its own to store; what it would take back, the overlay restores, and a write that\n" +
			"changes nothing is not stored and wakes nobody.",
		Counts: []report.Count{
			{Name: "Instance writes", Value: float64(h.writes)},
			{Name: "throughput", Value: h.throughput(), Unit: "writes/s"},
			{Name: "timeouts", Value: meanwhile.timeouts(), Bar: pairs.AtMost(0)},
			{Name: "parent writes of Causeway, stored", Value: own},
			{Name: "parent writes of the platform, sent", Value: float64(platformAfter.Calls - platformBefore.Calls)},
			{Name: "parent writes of the platform that met a conflict", Value: float64(platformAfter.Conflicts - platformBefore.Conflicts)},
			{Name: "parent writes of the platform, stored", Value: stored},
			{Name: "all parent writes stored, per one of Causeway", Value: (own + stored) / own, Bar: pairs.AtMost(1.1)},
			{Name: "parents that were right after the last write, of 2", Value: float64(right), Bar: pairs.AtLeast(2)},
		},
	}, nil
}
