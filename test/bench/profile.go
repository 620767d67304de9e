package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/causeway-webhook/causeway/test/environment"
)

// profileFlag has a process serve profiles, which none does unless asked.
const profileFlag = "--pprof-bind-address=127.0.0.1:0"

// profile writes what a process spends its time on while its half of a case is
// repeated for ten seconds, after all is measured. It does nothing without
// -profiles.
func (e *env) profile(ctx context.Context, name string, p *environment.Process, half func(context.Context) (half, error)) error {
	if e.profiles == "" {
		return nil
	}
	address, err := p.Address(ctx, "profiles")
	if err != nil {
		return err
	}
	path := filepath.Join(e.profiles, name+".pprof")
	e.say("writing %s", path)
	group, ctx := errgroup.WithContext(ctx)
	done := make(chan struct{})
	group.Go(func() error {
		defer close(done)
		return download(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", address, short(e, 10, 1)), path)
	})
	group.Go(func() error {
		for {
			select {
			case <-done:
				return nil
			default:
			}
			if _, err := half(ctx); err != nil {
				return err
			}
		}
	})
	return group.Wait()
}

func download(ctx context.Context, url, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("reading %s: %w", url, err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("reading %s: %s: %s", url, answer.Status, content)
	}
	return os.WriteFile(path, content, 0o644)
}
