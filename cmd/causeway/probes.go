package main

import (
	"fmt"
	"net/http"
	"strings"
)

// check is one thing that must hold for the process to be ready.
type check struct {
	name string
	err  func() error
}

// probeMux serves the probe address. extra adds paths of one sub-command.
func probeMux(ready []check, extra map[string]check) *http.ServeMux {
	mux := http.NewServeMux()
	// Alive means no more than that requests are answered: nothing that readiness looks at is mended by a restart.
	mux.Handle("/healthz", probe(nil))
	mux.Handle("/readyz", probe(ready))
	for path, c := range extra {
		mux.Handle(path, probe([]check{c}))
	}
	return mux
}

// probe answers 200 iff all checks hold, and names each one if asked with ?verbose or if any fails. Unlike
// controller-runtime's handler it says why: the causes name files and API groups, never a secret.
func probe(checks []check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var lines strings.Builder
		failed := false
		for _, c := range checks {
			if err := c.err(); err != nil {
				failed = true
				fmt.Fprintf(&lines, "[-]%s failed: %v\n", c.name, err)
				continue
			}
			fmt.Fprintf(&lines, "[+]%s ok\n", c.name)
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch {
		case failed:
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, lines.String(), "check failed\n")
		case r.URL.Query().Has("verbose"):
			fmt.Fprint(w, lines.String(), "check passed\n")
		default:
			fmt.Fprint(w, "ok")
		}
	})
}
