package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/causeway-webhook/causeway/certs"
)

// drainTimeout bounds an orderly stop after the shutdown delay. Together they must fit into the Pod's
// terminationGracePeriodSeconds, which deploy/ leaves at 30.
const drainTimeout = 15 * time.Second

// service is what a sub-command adds to the life every process has.
type service struct {
	// register adds the paths that the API server calls.
	register func(*http.ServeMux)
	// run works until its context ends, and then returns nil. An error ends the process at once: whatever it was, going
	// on would be wrong.
	run func(context.Context) error
	// ready are the checks of /readyz, besides those of the process itself.
	ready []check
	// probes are further paths on the probe address.
	probes map[string]check
	// drain, if any, hands over after readiness failed and before the listener closes.
	drain func(context.Context)
}

// process is one running sub-command.
type process struct {
	options  *commonOptions
	logger   logr.Logger
	host     string // of the API server, for the log
	cert     certs.Source
	clients  *certs.Clients // nil: anybody may call
	gatherer prometheus.Gatherer
	// metricsFilter, if any, has the metrics served over HTTPS to those it lets pass.
	metricsFilter metricsserver.Filter
	service       service
	traces        *tracing // nil: off

	listening atomic.Bool
	stopping  atomic.Bool
}

// run serves until ctx ends, then stops in an order in which no review is refused. It returns nil only for that.
func (p *process) run(ctx context.Context) error {
	reviews, others, err := p.listen(ctx)
	if err != nil {
		return err
	}
	// Signals end ctx. Work goes on through the drain, and so has a context that only this function ends.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	crew := newCrew()
	crew.start(func() error { return p.cert.Start(work) })
	if p.clients != nil {
		crew.start(func() error { return p.clients.Start(work) })
	}
	crew.start(func() error { return p.service.run(work) })
	for _, l := range append(others, reviews) {
		crew.start(l.serve)
		p.logger.Info("Serving", "server", l.name, "address", l.socket.Addr().String())
	}
	p.listening.Store(true)

	select {
	case <-ctx.Done():
		p.logger.Info("Stopping: no longer ready")
		p.drain(reviews, crew.failed)
	case <-crew.failed:
	}
	stop()
	for _, l := range append(others, reviews) {
		l.close()
	}
	return crew.wait()
}

// drain is the orderly part of the end. A failure cuts it short.
func (p *process) drain(reviews *listener, failed <-chan struct{}) {
	p.stopping.Store(true)
	select {
	case <-time.After(p.options.ShutdownDelay):
	case <-failed:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	if p.service.drain != nil {
		p.service.drain(ctx)
	}
	reviews.shutdown(ctx, p.logger)
	p.logger.Info("Stopped: reviews in flight are answered")
}

// listen takes all addresses or none.
func (p *process) listen(ctx context.Context) (reviews *listener, others []*listener, err error) {
	defer func() {
		if err != nil {
			for _, l := range others {
				l.close()
			}
		}
	}()
	if p.options.ProbeAddress != off {
		l, err := listen(ctx, "probes", "health-probe-bind-address", p.options.ProbeAddress,
			newPlainServer(probeMux(p.checks(), p.service.probes), p.logger))
		if err != nil {
			return nil, others, err
		}
		others = append(others, l)
	}
	if p.options.MetricsAddr != off {
		server, err := p.newMetricsServer()
		if err != nil {
			return nil, others, err
		}
		l, err := listen(ctx, "metrics", "metrics-bind-address", p.options.MetricsAddr, server)
		if err != nil {
			return nil, others, err
		}
		others = append(others, l)
	}
	if p.options.PprofAddress != off {
		l, err := listen(ctx, "profiles", "pprof-bind-address", p.options.PprofAddress, newProfileServer(p.logger))
		if err != nil {
			return nil, others, err
		}
		others = append(others, l)
	}
	mux := http.NewServeMux()
	p.service.register(mux)
	server := newTLSServer(p.traces.wrap(mux), p.cert.GetCertificate, p.logger)
	if p.clients != nil {
		p.clients.Demand(server.TLSConfig)
	}
	reviews, err = listen(ctx, "reviews", "port", net.JoinHostPort("", strconv.Itoa(p.options.Port)), server)
	return reviews, others, err
}

// newMetricsServer serves plain HTTP, or with a filter HTTPS, with the certificate of the reviews.
func (p *process) newMetricsServer() (*http.Server, error) {
	handler := promhttp.HandlerFor(p.gatherer, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	mux := http.NewServeMux()
	if p.metricsFilter == nil {
		mux.Handle("/metrics", handler)
		return newPlainServer(mux, p.logger), nil
	}
	filtered, err := p.metricsFilter(p.logger.WithName("metrics"), handler)
	if err != nil {
		return nil, err
	}
	mux.Handle("/metrics", filtered)
	return newTLSServer(mux, p.cert.GetCertificate, p.logger), nil
}

// checks are what /readyz asks: that the process is not stopping, can be called, will be trusted, and knows the world.
func (p *process) checks() []check {
	return append([]check{
		{"shutdown", func() error {
			if p.stopping.Load() {
				return errors.New("the process is stopping")
			}
			return nil
		}},
		{"listener", func() error {
			if !p.listening.Load() {
				return errors.New("not serving yet")
			}
			return nil
		}},
		{"certificate", p.cert.Ready},
	}, p.service.ready...)
}

// crew runs functions that belong together: the first failure is told to all.
type crew struct {
	failed chan struct{}
	once   sync.Once
	err    error
	group  sync.WaitGroup
}

func newCrew() *crew { return &crew{failed: make(chan struct{})} }

func (c *crew) start(f func() error) {
	c.group.Go(func() {
		if err := f(); err != nil {
			c.once.Do(func() {
				c.err = err
				close(c.failed)
			})
		}
	})
}

// patience is how long the work may take to end once its context has.
const patience = 3 * time.Second

// wait returns the first failure once all have ended. Work that does not end keeps nobody: the process is about to.
func (c *crew) wait() error {
	ended := make(chan struct{})
	go func() {
		c.group.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return c.err
	case <-time.After(patience):
	}
	select {
	case <-c.failed:
		return c.err
	default:
		return fmt.Errorf("some work did not stop within %s", patience)
	}
}
