package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
	"github.com/causeway-webhook/causeway/test/environment"
)

// writer is an ordinary user with a connection of its own. It does not decode
// what it is answered: what a client costs is not what is measured, and it shares
// the cores.
type writer struct {
	http *http.Client
	base string
}

// newWriters makes so many.
func newWriters(e *environment.Environment, count int) ([]writer, error) {
	writers := make([]writer, count)
	for i := range writers {
		// Each configuration has a key of its own, and so a connection.
		c, err := rest.HTTPClientFor(e.Config(environment.Writer))
		if err != nil {
			return nil, fmt.Errorf("making a writer: %w", err)
		}
		c.Timeout = time.Minute
		writers[i] = writer{http: c, base: e.URL()}
	}
	return writers, nil
}

const (
	mergePatch = "application/merge-patch+json"
	plainJSON  = "application/json"
)

// send sends one request and returns the answer's body. Any answer but success is
// an error.
func (w writer) send(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, w.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Accept", plainJSON)
	answer, err := w.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if answer.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	return text, nil
}

// half is what was measured of many writes.
type half struct {
	writes int
	took   time.Duration
	// latencies are of single writes, in milliseconds.
	latencies []float64
}

func (h half) throughput() float64 { return float64(h.writes) / h.took.Seconds() }
func (h half) p50() float64        { return pairs.Quantile(h.latencies, 0.5) }
func (h half) p99() float64        { return pairs.Quantile(h.latencies, 0.99) }

// storm has all writers write so often each, one write after the other, and all
// writers at the same time. The first error ends it.
func storm(ctx context.Context, writers []writer, each int, write func(ctx context.Context, w writer, n int) error) (half, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	latencies := make([][]float64, len(writers))
	for n := range latencies {
		latencies[n] = make([]float64, 0, each)
	}
	var group sync.WaitGroup
	began := time.Now()
	for n, w := range writers {
		group.Go(func() {
			for range each {
				began := time.Now()
				if err := write(ctx, w, n); err != nil {
					cancel(err)
					return
				}
				latencies[n] = append(latencies[n], float64(time.Since(began))/float64(time.Millisecond))
			}
		})
	}
	group.Wait()
	h := half{writes: len(writers) * each, took: time.Since(began)}
	for _, l := range latencies {
		h.latencies = append(h.latencies, l...)
	}
	return h, context.Cause(ctx)
}

// halfOf is a storm as a half of a pair.
func halfOf(writers []writer, each int, write func(ctx context.Context, w writer, n int) error) func(context.Context) (half, error) {
	return func(ctx context.Context) (half, error) { return storm(ctx, writers, each, write) }
}

// measure warms every half up once and then takes the pairs.
func (e *env) measure(ctx context.Context, comparisons ...pairs.Comparison[half]) ([][]pairs.Pair[half], error) {
	if _, err := pairs.Take(ctx, 1, comparisons...); err != nil {
		return nil, fmt.Errorf("warming up: %w", err)
	}
	return pairs.Take(ctx, e.pairs, comparisons...)
}

// measureAndCount measures, and tells what was counted on a plane meanwhile, the
// warm-up included.
func (e *env) measureAndCount(ctx context.Context, on *environment.Environment, comparisons ...pairs.Comparison[half]) (taken [][]pairs.Pair[half], meanwhile delta, err error) {
	meanwhile, err = counted(ctx, on, func() (err error) {
		taken, err = e.measure(ctx, comparisons...)
		return err
	})
	return taken, meanwhile, err
}

// measured is how many writes one side of a comparison gets, the warm-up included.
func (e *env) measured(writers, each int) float64 { return float64((e.pairs + 1) * each * writers) }
