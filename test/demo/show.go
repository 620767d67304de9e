package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// show builds, starts, plays and stops. Whatever it started has ended when it
// returns.
func show(ctx context.Context, keep bool, out, errOut io.Writer) (err error) {
	began := time.Now()
	p := &printer{out: out}
	dir, remove, err := temporary()
	if err != nil {
		return err
	}
	defer also(&err, remove)

	p.say("Causeway: one story, told by an API server without it and then with it.\n")
	programs, causeway, err := build(ctx, dir, errOut)
	if err != nil {
		return orCause(ctx, err)
	}

	started := time.Now()
	p.begin("# a control plane, the CRDs, a runtime class and the platform start")
	w, err := start(ctx, programs, causeway, dir)
	if err != nil {
		return orCause(ctx, err)
	}
	defer also(&err, w.Stop)
	p.end(time.Since(started), "")

	if err := play(ctx, w, story, p); err != nil {
		if ctx.Err() == nil {
			w.writeLogs(errOut)
		}
		return err
	}
	p.say(fmt.Sprintf("\nEvery step showed what it should. All of it took %s.", duration(time.Since(began))))
	if keep {
		return keepRunning(ctx, w, dir, p)
	}
	return p.err
}

// also adds what went wrong while cleaning up. Without that err stays as it is.
func also(err *error, clean func() error) {
	if failed := clean(); failed != nil {
		*err = errors.Join(*err, failed)
	}
}

// orCause is why ctx ended, if it has: what failed because of that says less.
func orCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// reviveEvery is how often processes that ended are looked for.
const reviveEvery = 500 * time.Millisecond

// keepRunning tells how to look around, and waits to be stopped. Until then it
// starts what ends, as a kubelet would.
func keepRunning(ctx context.Context, w *world, dir string, p *printer) error {
	// In place of the one that the story killed.
	if _, err := w.Revive(ctx); err != nil {
		return orCause(ctx, err)
	}
	if err := w.WriteOperatorFiles(dir); err != nil {
		return err
	}
	p.say(fmt.Sprintf(`
All of it is left running. Look around as the user who installed it:

  export DEMO=%s
  export KUBECONFIG=$DEMO/kubeconfig PATH=$DEMO:$PATH
  kubectl get workloads,workloaddeployments,instances
  kubectl why api

docs/operating.md has a rehearsal for it: watch it, break it and mend it.

The stand-in platform goes on too: it writes over what you change of an Instance's status.
To stop it and remove all it wrote: Ctrl-C here, or kill %d.`, dir, os.Getpid()))
	if p.err != nil {
		return p.err
	}
	tick := time.NewTicker(reviveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		ended, err := w.KeepUp(ctx, dir)
		for _, process := range ended {
			p.say(fmt.Sprintf("%s has ended and was started again. Its last words: %s", process.Name, process.LastWords()))
		}
		if err != nil && ctx.Err() == nil {
			p.say("It could not be started again; trying: " + err.Error())
		}
	}
}
