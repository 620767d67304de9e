package main

import (
	"errors"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-webhook/causeway/certs"
)

//go:generate go test . -run ^TestTheMetricsPageIsUpToDate$ -update

// newBuildInfo is a metric of which build runs, for panels that show an upgrade.
func newBuildInfo() prometheus.Collector {
	b := buildOf(version, commit, debug.ReadBuildInfo)
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "causeway_build_info",
		Help:        "1, with the version, the commit and the Go version of this build.",
		ConstLabels: prometheus.Labels{"version": b.version, "commit": b.commit, "go_version": b.goVersion},
	}, func() float64 { return 1 })
}

// registerOwn registers what every sub-command shows.
func registerOwn(registerer prometheus.Registerer, cert certs.Source) error {
	return errors.Join(registerer.Register(newBuildInfo()), registerer.Register(linesDropped), registerer.Register(certs.NewExpiry(cert)))
}
