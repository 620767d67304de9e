package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestProbes(t *testing.T) {
	good := check{"caches", func() error { return nil }}
	bad := check{"certificate", func() error { return errors.New("it has expired") }}
	for name, tc := range map[string]struct {
		ready    []check
		path     string
		wantCode int
		wantBody string
	}{
		"alive though not ready":       {[]check{bad}, "/healthz", 200, "ok"},
		"ready":                        {[]check{good}, "/readyz", 200, "ok"},
		"ready, in detail":             {[]check{good}, "/readyz?verbose", 200, "[+]caches ok\ncheck passed\n"},
		"not ready says why, unasked":  {[]check{good, bad}, "/readyz", 503, "[+]caches ok\n[-]certificate failed: it has expired\ncheck failed\n"},
		"a path of one sub-command":    {nil, "/activez", 503, "[-]active failed: another process is\ncheck failed\n"},
		"a path that is none of these": {nil, "/", 404, "404 page not found\n"},
	} {
		t.Run(name, func(t *testing.T) {
			mux := probeMux(tc.ready, map[string]check{"/activez": {"active", func() error { return errors.New("another process is") }}})
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, tc.path, nil))
			assert.Equal(t, tc.wantCode, w.Code)
			assert.Equal(t, tc.wantBody, w.Body.String())
		})
	}
}
