package main

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-webhook/causeway/test/environment"
)

// called returns when the writes of a fleet are reviewed by Causeway, in the same
// request: an API server takes a moment to notice a configuration.
func called(ctx context.Context, f *fleet) error {
	return waitFor(ctx, "Causeway to be called", func() (bool, string) {
		d, err := counted(ctx, f.Environment, func() error { return f.flip(ctx, f.writers[0], 0) })
		if err != nil {
			return false, err.Error()
		}
		return d.calls() > 0 && d.timeouts() == 0, fmt.Sprintf("%v calls, %v without an answer", d.calls(), d.timeouts())
	})
}

// baselineCalled is called for a baseline webhook.
func baselineCalled(ctx context.Context, f *fleet, baseline string) error {
	name := baseline + ".bench.causeway.test"
	return waitFor(ctx, "the webhook "+name+" to be called", func() (bool, string) {
		before, err := serverCounters(ctx, f.Environment)
		if err != nil {
			return false, err.Error()
		}
		if err := f.flip(ctx, f.writers[0], 0); err != nil {
			return false, err.Error()
		}
		after, err := serverCounters(ctx, f.Environment)
		if err != nil {
			return false, err.Error()
		}
		calls := after.sum(webhookCalls, "name", name) - before.sum(webhookCalls, "name", name)
		missed := after.sum(webhookFailOpens, "name", name) - before.sum(webhookFailOpens, "name", name)
		return calls > 0 && missed == 0, fmt.Sprintf("%v calls, %v without an answer", calls, missed)
	})
}

// patience bounds every wait; nothing here takes nearly as long.
const patience = 3 * time.Minute

func waitFor(ctx context.Context, what string, reached func() (bool, string)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return environment.WaitFor(ctx, what, reached)
}
