package main

import (
	"net/http"
	"net/http/pprof"

	"github.com/go-logr/logr"
)

// newProfileServer serves the profiles of this process under /debug/pprof/. They show arguments, stacks and which code
// is busy, to anybody who can reach it.
func newProfileServer(logger logr.Logger) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := newPlainServer(mux, logger)
	// A profile over time takes as long as it is asked to.
	server.ReadTimeout, server.WriteTimeout = 0, 0
	return server
}
