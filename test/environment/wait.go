package environment

import (
	"context"
	"fmt"
	"time"
)

// poll is how often a state that cannot be watched is looked at.
const poll = 10 * time.Millisecond

// WaitFor returns when the state is reached. If ctx ends first, the error says
// what was waited for and how it last looked.
func WaitFor(ctx context.Context, what string, reached func() (bool, string)) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		ok, last := reached()
		if ok {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; last seen: %s", what, context.Cause(ctx), last)
		}
	}
}
