package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
	"github.com/causeway-webhook/causeway/test/bench/report"
)

// truth reads both parents as soon as the write of their Instance has returned.
func truth(ctx context.Context, e *env) (_ report.Table, err error) {
	plane, err := e.startBesidePlatform(ctx)
	if err != nil {
		return report.Table{}, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	const parents = 16
	f, err := newPlatformFleet(ctx, plane, "truth", parents, 1)
	if err != nil {
		return report.Table{}, err
	}
	if err := called(ctx, f); err != nil {
		return report.Table{}, err
	}

	var right atomic.Int64
	var wrong wrongs
	each := short(e, 2000, 64) / parents
	read := func(ctx context.Context, w writer, n int) error {
		f.turns[n]++
		s, detail := anyState(n, f.turns[n])
		if err := f.say(ctx, w, n, s, detail); err != nil {
			return err
		}
		for path, want := range map[string]metav1.Condition{
			f.deploymentPath(n): soleInstance(s, detail, "StableInstanceFound", "1/1 instances are ready"),
			f.workloadPath(n):   soleInstance(s, detail, "AvailablePlacementFound", "At least one available placement was found"),
		} {
			got, err := w.said(ctx, path)
			if err != nil {
				return err
			}
			if got.Status == want.Status && got.Reason == want.Reason && got.Message == want.Message {
				right.Add(1)
				continue
			}
			wrong.add(fmt.Sprintf("%s said %s/%s %q instead of %s/%s %q", path, got.Status, got.Reason, got.Message, want.Status, want.Reason, want.Message))
		}
		return nil
	}
	meanwhile, err := counted(ctx, plane, func() error {
		_, err := storm(ctx, f.writers, each, read)
		return err
	})
	if err != nil {
		return report.Table{}, err
	}
	writes := each * parents
	return report.Table{
		Title: "Truth in the same request",
		About: "16 Workloads of one Instance, a writer for each; every write changes what both parents have to say, and every third has the\n" +
			"Instance ready. As soon as a write has returned, its writer reads both parents live. The repair loop and the stand-in\n" +
			"platform run, and write the same parents.",
		Counts: []report.Count{
			{Name: "writes", Value: float64(writes)},
			{Name: fmt.Sprintf("reads that were right, of %d", 2*writes), Value: float64(right.Load()), Bar: pairs.AtLeast(float64(2 * writes))},
			{Name: "reviews left to the repair loop", Value: meanwhile.deferred()},
			{Name: "timeouts", Value: meanwhile.timeouts()},
		},
		Notes: wrong.first,
	}, nil
}

// anyState is what an Instance says on its so-manieth turn: two failures, then
// that it is ready.
func anyState(n, turn int) (state, string) {
	s := []state{crashing, lacksImage, ready}[(n+turn)%3]
	if s == ready {
		return s, s.message
	}
	return s, fmt.Sprintf(s.message, turn)
}

// soleInstance is what a parent says of its only Instance; the reason and message
// are for when that is ready.
func soleInstance(s state, detail, reason, message string) metav1.Condition {
	if s == ready {
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: reason, Message: message}
	}
	return metav1.Condition{Status: metav1.ConditionFalse, Reason: s.reason, Message: s.one(detail)}
}

// wrongs keeps the first few of what was wrong.
type wrongs struct {
	mu    sync.Mutex
	first []string
}

func (w *wrongs) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.first) < 5 {
		w.first = append(w.first, text)
	}
}
