package main

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// get asks a path by plain HTTP.
func get(t *testing.T, address, path string) (code int, body string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	response, err := client.Get("http://" + address + path)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

func TestProfilesAreServedWhereAskedFor(t *testing.T) {
	r := launch(t, 0, service{}, func(p *process) { p.options.PprofAddress = "127.0.0.1:0" })
	for path, want := range map[string]string{
		"/debug/pprof/":                    "Types of profiles available",
		"/debug/pprof/goroutine?debug=1":   "goroutine profile: total",
		"/debug/pprof/heap?debug=1":        "heap profile:",
		"/debug/pprof/symbol":              "num_symbols",
		"/debug/pprof/profile?seconds=1":   "", // compressed
		"/debug/pprof/trace?seconds=0.001": "go ",
	} {
		code, body := get(t, r.profiles, path)
		assert.Equal(t, http.StatusOK, code, path)
		assert.Contains(t, body, want, path)
	}
	r.stop()
	require.NoError(t, r.end(t))
}

func TestNoProfileIsServedAnywhereElse(t *testing.T) {
	r := launch(t, 0, service{})
	code, _ := get(t, r.probes, "/debug/pprof/")
	assert.Equal(t, http.StatusNotFound, code)
	r.stop()
	require.NoError(t, r.end(t))
}
