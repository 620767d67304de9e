package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStorm(t *testing.T) {
	var writes [3]atomic.Int64
	h, err := storm(t.Context(), make([]writer, 3), 5, func(_ context.Context, _ writer, n int) error {
		writes[n].Add(1)
		return nil
	})
	require.NoError(t, err)
	for n := range writes {
		assert.EqualValues(t, 5, writes[n].Load(), "writes of writer %d", n)
	}
	assert.Equal(t, 15, h.writes)
	assert.Len(t, h.latencies, 15)
}

func TestStormEndsWithTheFirstError(t *testing.T) {
	gone := errors.New("gone")
	_, err := storm(t.Context(), make([]writer, 2), 5, func(ctx context.Context, _ writer, n int) error {
		if n == 0 {
			return gone
		}
		<-ctx.Done()
		return ctx.Err()
	})
	assert.Equal(t, gone, err)
}

func TestHalf(t *testing.T) {
	h := half{writes: 100, took: 2 * time.Second, latencies: []float64{1, 3, 2}}
	assert.Equal(t, 50.0, h.throughput())
	assert.Equal(t, 2.0, h.p50())
	assert.InDelta(t, 2.98, h.p99(), 1e-9)
}

func TestSendTakesAnythingButSuccessForAnError(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			http.Error(w, "conflict", http.StatusConflict)
			return
		}
		_, _ = w.Write([]byte("ok"))
	}))
	defer server.Close()
	w := writer{http: server.Client(), base: server.URL}
	text, err := w.send(t.Context(), http.MethodGet, "/a", plainJSON, nil)
	require.NoError(t, err)
	assert.Equal(t, "ok", string(text))
	_, err = w.send(t.Context(), http.MethodPatch, "/a", mergePatch, nil)
	assert.EqualError(t, err, "PATCH /a: 409 Conflict: conflict\n")
}
