package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// failure says which act of which step did not show what it should.
type failure struct {
	step step
	act  act
	seen string
	err  error
}

func (f *failure) Error() string {
	text := fmt.Sprintf("step %s (%s) failed\nat: %s\n", strings.TrimRight(f.step.name, ":"), f.step.title, f.act.line)
	if f.err != nil {
		return text + "error: " + f.err.Error()
	}
	return text + fmt.Sprintf("expected:\n%s\nseen:\n%s", indent(f.act.want), indent(f.seen))
}

func (f *failure) Unwrap() error { return f.err }

// play plays the steps one after the other and ends with the first act that
// fails. Between two acts nothing happens: a read comes right after the write
// that stands before it.
func play(ctx context.Context, w *world, steps []step, p *printer) error {
	for _, s := range steps {
		p.title(s)
		for _, a := range s.acts {
			if err := perform(ctx, w, s, a, p); err != nil {
				return err
			}
		}
	}
	return p.err
}

func perform(ctx context.Context, w *world, s step, a act, p *printer) error {
	bounded, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it took longer than %s", patience))
	defer cancel()
	p.begin(a.line)
	began := time.Now()
	output, err := a.do(bounded, w)
	p.end(time.Since(began), output)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if p.err != nil {
		return p.err
	}
	if err != nil || !matches(a.want, output) {
		return &failure{step: s, act: a, seen: output, err: err}
	}
	return nil
}
