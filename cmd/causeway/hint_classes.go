package main

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/causeway-webhook/causeway/statuspatch"
	"github.com/causeway-webhook/causeway/statuspatch/podstore"
	"github.com/causeway-webhook/causeway/webhook"
)

// hintClasses lets statuspatch ask what runtime classes grant by default, by the webhook's own rules. The two packages know
// nothing of each other, so it is here that they meet.
type hintClasses struct {
	cached cache.Cache
	// changed is told whenever the classes are other ones, or can no longer be read.
	changed func()
	current atomic.Pointer[webhook.Classes]

	mu       sync.Mutex
	readable bool
	byName   map[string]webhook.RuntimeClass
}

func newHintClasses(ctx context.Context, config *rest.Config) (*hintClasses, error) {
	h := &hintClasses{byName: map[string]webhook.RuntimeClass{}}
	h.current.Store(webhook.NewClasses(nil))
	scheme := runtime.NewScheme()
	if err := webhook.AddToScheme(scheme); err != nil {
		return nil, err
	}
	cached, informer, err := newClassCache(ctx, config, cache.Options{
		Scheme: scheme, Mapper: classMapper(),
		DefaultWatchErrorHandler: func(ctx context.Context, r *toolscache.Reflector, err error) {
			toolscache.DefaultWatchErrorHandler(ctx, r, err)
			h.failed(err)
		},
	})
	if err != nil {
		return nil, err
	}
	h.cached = cached
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    h.keep,
		UpdateFunc: func(_, o any) { h.keep(o) },
		DeleteFunc: h.drop,
	})
	return h, err
}

// defaultGrants answers no capabilities for a class that is not there or cannot be read.
func (h *hintClasses) defaultGrants(class string) (name string, capabilities []string) {
	return h.current.Load().DefaultGrants(class)
}

// grants is nil where there are none to ask.
func (h *hintClasses) grants() podstore.DefaultGrants {
	if h == nil {
		return nil
	}
	return h.defaultGrants
}

// run runs the sidecar and, where there is one, the watch of the classes beside it.
func (h *hintClasses) run(s *statuspatch.Sidecar) func(context.Context) error {
	if h == nil {
		return s.Run
	}
	h.changed = s.ClassesChanged
	return func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return h.cached.Start(ctx) })
		group.Go(func() error { return s.Run(ctx) })
		return group.Wait()
	}
}

func (h *hintClasses) keep(o any) {
	if class, ok := o.(*webhook.RuntimeClass); ok {
		h.change(func() { h.readable = true; h.byName[class.Name] = *class })
	}
}

func (h *hintClasses) drop(o any) {
	if name, err := toolscache.DeletionHandlingObjectToName(o); err == nil {
		h.change(func() { delete(h.byName, name.Name) })
	}
}

// failed tells a watch that broke, as any may for a moment, from one that is refused: what was read before may be wrong by now.
func (h *hintClasses) failed(err error) {
	h.mu.Lock()
	known := h.readable // it is refused again and again, which is news once
	h.mu.Unlock()
	if known && (apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err)) {
		h.change(func() { h.readable = false })
	}
}

func (h *hintClasses) change(edit func()) {
	h.mu.Lock()
	edit()
	var list []webhook.RuntimeClass
	if h.readable {
		list = slices.Collect(maps.Values(h.byName))
	}
	h.current.Store(webhook.NewClasses(list))
	h.mu.Unlock()
	h.changed()
}
