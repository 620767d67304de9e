package traffic

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
)

// Pauses between two requests of one client.
const (
	writeEvery     = 25 * time.Millisecond
	handshakeEvery = 50 * time.Millisecond
)

// Counts are what was done without a fault.
type Counts struct {
	Created, Refused, StatusWrites, Handshakes int64
}

func (c Counts) String() string {
	return fmt.Sprintf("%d creates, %d refusals, %d status writes, %d handshakes", c.Created, c.Refused, c.StatusWrites, c.Handshakes)
}

// Traffic is what runs.
type Traffic struct {
	env                     *environment.Environment
	admin, customer, writer client.Client
	namespace               string
	passedBefore            string

	cancel context.CancelFunc
	group  sync.WaitGroup

	created, refused, statusWrites, handshakes atomic.Int64

	mu     sync.Mutex
	faults []error
}

// Start waits until the refusal is in force, then has the clients begin. The
// status half must run without its repair loop, which would hide a missed
// request.
func Start(ctx context.Context, env *environment.Environment, namespace string) (*Traffic, error) {
	t := &Traffic{env: env, namespace: namespace}
	for user, c := range map[string]*client.Client{
		controlplane.Installer: &t.admin, environment.Customer: &t.customer, environment.Writer: &t.writer,
	} {
		made, err := env.Client(user)
		if err != nil {
			return nil, err
		}
		*c = made
	}
	status, err := t.newStatusClient(ctx)
	if err != nil {
		return nil, err
	}
	hands, err := t.newHandshakeClient()
	if err != nil {
		return nil, err
	}
	err = environment.WaitFor(ctx, "the refusal to be in force", func() (bool, string) {
		err := t.refuse(ctx)
		return err == nil, fmt.Sprint(err)
	})
	if err != nil {
		return nil, err
	}
	err = environment.WaitFor(ctx, "the status half to be called", func() (bool, string) {
		err := status.write(ctx)
		return err == nil, fmt.Sprint(err)
	})
	if err != nil {
		return nil, err
	}
	env.RefusalFront.Hold()
	env.StatusFront.Hold()
	// Before Causeway was there, requests may have passed it by.
	if t.passedBefore, err = t.failedOpen(ctx); err != nil {
		return nil, err
	}
	ctx, t.cancel = context.WithCancel(ctx)
	t.repeat(ctx, writeEvery, &t.created, t.create)
	t.repeat(ctx, writeEvery, &t.refused, t.refuse)
	t.repeat(ctx, writeEvery, &t.statusWrites, status.write)
	t.repeat(ctx, handshakeEvery, &t.handshakes, hands.shake)
	return t, nil
}

// repeat does one thing at a steady pace, or as fast as it gets done.
func (t *Traffic) repeat(ctx context.Context, pace time.Duration, count *atomic.Int64, do func(context.Context) error) {
	t.group.Go(func() {
		tick := time.NewTicker(pace)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			err := do(ctx)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				t.mu.Lock()
				t.faults = append(t.faults, fmt.Errorf("%s: %w", time.Now().Format(time.TimeOnly), err))
				t.mu.Unlock()
			default:
				count.Add(1)
			}
		}
	})
}

// Counts is how much was done so far.
func (t *Traffic) Counts() Counts {
	return Counts{t.created.Load(), t.refused.Load(), t.statusWrites.Load(), t.handshakes.Load()}
}

// Fault is what went wrong so far, at most ten of it.
func (t *Traffic) Fault() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.faults); n > 10 {
		return errors.Join(append(t.faults[:10:10], fmt.Errorf("and %d more", n-10))...)
	}
	return errors.Join(t.faults...)
}

// Stop ends the clients. It says how much was done and, among what went wrong,
// how often the API server let a write pass because it could not ask.
func (t *Traffic) Stop(ctx context.Context) (Counts, error) {
	t.cancel()
	t.group.Wait()
	passed, err := t.failedOpen(ctx)
	if passed != t.passedBefore {
		err = errors.Join(err, fmt.Errorf("the API server let requests pass unasked: before %q, after %q", t.passedBefore, passed))
	}
	return t.Counts(), errors.Join(t.Fault(), err)
}
