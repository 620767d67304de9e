package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/causeway-webhook/causeway/certs"
)

// environment is what a sub-command finds when it is built.
type environment struct {
	config     *rest.Config
	served     map[string]bool // the resources of the compute API that the control plane has
	logger     logr.Logger
	registerer prometheus.Registerer
}

// startTimeout bounds everything before the process serves. Whatever is wrong by then has been said in 15 s.
const startTimeout = 14 * time.Second

// start gathers what every sub-command needs, in the order in which an operator would want to hear of faults: local files
// first, then the API server. Then it builds the sub-command and runs it until ctx ends.
func start(ctx context.Context, name string, o *commonOptions, build func(context.Context, environment) (service, error)) error {
	logger := newLogger(os.Stderr, o.logFormat(), o.Verbosity)
	logEverywhere(logger, o.Verbosity)
	logger = logger.WithName(name)
	traces, err := newTracing(ctx, o.OTLPEndpoint, name, logger)
	if err != nil {
		return oneLine(err)
	}
	defer traces.stop()

	p, err := assemble(ctx, name, o, logger, build)
	switch {
	case ctx.Err() != nil:
		return nil // asked to stop before it began
	case err != nil:
		return oneLine(err)
	}
	p.traces = traces
	logger.Info("Starting", "version", versionLine(), "apiServer", p.host)
	return oneLine(p.run(ctx))
}

func assemble(ctx context.Context, name string, o *commonOptions, logger logr.Logger, build func(context.Context, environment) (service, error)) (*process, error) {
	clients, err := newClients(&o.certOptions, logger)
	if err != nil {
		return nil, err
	}
	config, err := loadConfig(o.Kubeconfig, "causeway-"+name)
	if err != nil {
		return nil, err
	}
	var cert certs.Source
	if o.Mode == certFiles {
		if cert, err = newFiles(&o.certOptions, config, logger); err != nil {
			return nil, err
		}
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	served, err := servedResources(starting, config)
	if err != nil {
		return nil, err
	}
	if o.Mode == certSelfManaged {
		if cert, err = newSelfManaged(starting, &o.certOptions, config, logger); err != nil {
			return nil, err
		}
	}
	// controller-runtime's registry holds client-go's metrics too, and Go's own.
	if err := registerOwn(metrics.Registry, cert); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	p := &process{options: o, logger: logger, host: config.Host, cert: cert, clients: clients, gatherer: metrics.Registry}
	if o.MetricsSecure {
		if p.metricsFilter, err = newMetricsFilter(config); err != nil {
			return nil, err
		}
	}
	p.service, err = build(starting, environment{config: config, served: served, logger: logger, registerer: metrics.Registry})
	return p, err
}

// newMetricsFilter lets those see the metrics whom the API server knows and allows to.
func newMetricsFilter(config *rest.Config) (metricsserver.Filter, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("setting up --metrics-secure: %w", err)
	}
	filter, err := filters.WithAuthenticationAndAuthorization(config, client)
	if err != nil {
		return nil, fmt.Errorf("setting up --metrics-secure: %w", err)
	}
	return filter, nil
}

// oneLine keeps an error greppable: libraries join some of theirs over several lines.
func oneLine(err error) error {
	if err == nil || !strings.Contains(err.Error(), "\n") {
		return err
	}
	return fmt.Errorf("%s", strings.Join(strings.Fields(err.Error()), " "))
}
