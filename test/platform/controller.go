package platform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// Controller is one of the platform's writers: a user, a field manager, a cache
// and a work queue of its own.
type Controller struct {
	user        string
	manager     manager.Manager
	connections *connrotation.Dialer

	client client.Client // reads from the cache
	live   client.Reader
	status *statusWriter
	gate   gate

	watched []client.Object // one of each kind
	start   sync.Once
	started chan struct{} // closed once queue is set
	queue   workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// Pause stops the controller between two passes. It waits for passes in
// flight; events pile up until Resume.
func (c *Controller) Pause() { c.gate.close() }

// Resume lets a paused controller go on.
func (c *Controller) Resume() { c.gate.open() }

// Writes returns the status writes so far.
func (c *Controller) Writes() Writes { return c.status.writes() }

// SlowestWrite is the longest that one status write has taken. A write that
// conflicts and the next one are two.
func (c *Controller) SlowestWrite() time.Duration { return time.Duration(c.status.slowest.Load()) }

// newController connects a writer. Its user and its field manager are two
// things: the API server authorizes the one and records the other.
func newController(o Options, user string, w WriterOptions) (*Controller, error) {
	cfg := rest.CopyConfig(o.Config(user))
	cfg.QPS = -1 // a limit in the client would hide how rude the platform can be
	if cfg.Dial == nil {
		cfg.Dial = (&net.Dialer{}).DialContext
	}
	connections := connrotation.NewDialer(cfg.Dial)
	cfg.Dial = connections.DialContext
	mgr, err := manager.New(cfg, manager.Options{
		Scheme:         computeapi.NewScheme(),
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return computeapi.NewRESTMapper(), nil },
		Metrics:        metricsserver.Options{BindAddress: "0"},
		Logger:         o.Log.WithName(user),
		Controller: config.Controller{
			SkipNameValidation: ptr.To(true), // several platforms may share a process
			CacheSyncTimeout:   30 * time.Second,
			Logger:             o.Log.WithName(user),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("manager of user %q: %w", user, err)
	}
	owned := client.WithFieldOwner(mgr.GetClient(), cmp.Or(w.FieldManager, user))
	return &Controller{
		user: user, manager: mgr, connections: connections,
		client: owned, live: mgr.GetAPIReader(),
		status:  &statusWriter{client: owned, style: w.Style},
		started: make(chan struct{}),
	}, nil
}

// build starts the description of a control loop.
func (c *Controller) build(name string) *builder.Builder {
	return builder.ControllerManagedBy(c.manager).Named(name)
}

// complete ends it, given the kinds it watches. Passes wait while the controller
// is paused. An error of a pass, a conflict included, is retried with growing
// delays (section 4).
func (c *Controller) complete(b *builder.Builder, pass reconcile.Func, watched ...client.Object) error {
	c.watched = append(c.watched, watched...)
	b = b.WatchesRawSource(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		c.start.Do(func() {
			c.queue = queue
			close(c.started)
		})
		return nil
	}))
	return b.Complete(reconcile.Func(
		func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			done := c.gate.pass()
			defer done()
			if err := ctx.Err(); err != nil {
				return reconcile.Result{}, err
			}
			return pass(ctx, request)
		}))
}

// enqueueAll makes the controller look at all objects of a list's kind again.
func (c *Controller) enqueueAll(ctx context.Context, list client.ObjectList) error {
	if err := c.client.List(ctx, list); err != nil {
		return fmt.Errorf("listing what %s looks after: %w", c.user, err)
	}
	for _, request := range requestsFor(list) {
		c.queue.Add(request)
	}
	return nil
}

// requestsFor returns a request for each object of a list.
func requestsFor(list client.ObjectList) []reconcile.Request {
	var requests []reconcile.Request
	// The function given returns no error, so neither does EachListItem.
	_ = meta.EachListItem(list, func(obj runtime.Object) error {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(obj.(client.Object))})
		return nil
	})
	return requests
}

// run works until ctx ends.
func (c *Controller) run(ctx context.Context) error {
	if err := c.manager.Start(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", c.user, err)
	}
	return nil
}

// disconnect closes the connections that were kept. A transport would only close
// those that are idle, and a watch that has just ended is not yet.
func (c *Controller) disconnect() { c.connections.CloseAll() }

// ready waits until the controller has a queue and a filled cache.
func (c *Controller) ready(ctx context.Context) error {
	select {
	case <-c.started:
	case <-ctx.Done():
		return fmt.Errorf("starting %s: %w", c.user, context.Cause(ctx))
	}
	for _, kind := range c.watched {
		if _, err := c.manager.GetCache().GetInformer(ctx, kind); err != nil {
			return fmt.Errorf("filling the cache of %s: %w", c.user, errors.Join(err, context.Cause(ctx)))
		}
	}
	return nil
}
