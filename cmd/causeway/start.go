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
	logger := newLogger(os.Stderr, o.LogFormat, o.Verbosity)
	logEverywhere(logger, o.Verbosity)
	logger = logger.WithName(name)

	p, err := assemble(ctx, name, o, logger, build)
	switch {
	case ctx.Err() != nil:
		return nil // asked to stop before it began
	case err != nil:
		return oneLine(err)
	}
	logger.Info("Starting", "version", versionLine(), "apiServer", p.host)
	return oneLine(p.run(ctx))
}

func assemble(ctx context.Context, name string, o *commonOptions, logger logr.Logger, build func(context.Context, environment) (service, error)) (*process, error) {
	cert, err := certs.NewFiles(certs.FilesOptions{Dir: o.CertDir, Logger: logger.WithName("certs")})
	if err != nil {
		return nil, fmt.Errorf("no serving certificate: %w, or name its folder with --cert-dir", err)
	}
	config, err := loadConfig(o.Kubeconfig, "causeway-"+name)
	if err != nil {
		return nil, err
	}
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	served, err := servedResources(starting, config)
	if err != nil {
		return nil, err
	}
	// controller-runtime's registry holds client-go's metrics too, and Go's own.
	s, err := build(starting, environment{config: config, served: served, logger: logger, registerer: metrics.Registry})
	if err != nil {
		return nil, err
	}
	return &process{options: o, logger: logger, host: config.Host, cert: cert, gatherer: metrics.Registry, service: s}, nil
}

// oneLine keeps an error greppable: libraries join some of theirs over several lines.
func oneLine(err error) error {
	if err == nil || !strings.Contains(err.Error(), "\n") {
		return err
	}
	return fmt.Errorf("%s", strings.Join(strings.Fields(err.Error()), " "))
}
