package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/causeway-webhook/causeway/cmd/kubectl-why/tree"
)

// settle is how long nothing may change before the answer is computed anew: the
// writes of an Instance and its parents come together, and so should they be
// told.
const settle = 200 * time.Millisecond

// follow explains, and explains again whenever the answer changes, until ctx
// ends. Its verdict is the last one.
func (o *options) follow(ctx context.Context, s *source) error {
	// Once by itself: what is wrong with the call shows here and ends it.
	snapshot, err := s.read(ctx)
	if err != nil {
		return err
	}
	last := tree.Build(snapshot)
	if err := o.print(last); err != nil {
		return err
	}
	w := newWatcher(s, snapshot)
	w.start(ctx)
	for {
		if !w.wait(ctx) {
			return o.verdict(last)
		}
		snapshot, err := w.snapshot()
		if err != nil {
			return err
		}
		next := tree.Build(snapshot)
		if reflect.DeepEqual(last, next) {
			continue
		}
		last = next
		if err := o.separate(); err != nil {
			return err
		}
		if err := o.print(last); err != nil {
			return err
		}
	}
}

// separate tells one answer from the next. JSON documents need no separator.
func (o *options) separate() (err error) {
	switch o.output {
	case outputJSON:
	case outputYAML:
		_, err = fmt.Fprintln(o.streams.Out, "---")
	default:
		_, err = fmt.Fprintf(o.streams.Out, "\n--- %s ---\n\n", time.Now().Format(time.TimeOnly))
	}
	return err
}

// watcher keeps what was read up to date.
type watcher struct {
	source  *source
	initial tree.Snapshot
	stores  map[schema.GroupVersionResource]cache.Store
	changed chan struct{}
}

func newWatcher(s *source, initial tree.Snapshot) *watcher {
	w := &watcher{source: s, initial: initial, stores: map[schema.GroupVersionResource]cache.Store{}, changed: make(chan struct{}, 1)}
	for of, unread := range map[schema.GroupVersionResource]string{
		workloads: "", deployments: initial.NoDeployments, instances: initial.NoInstances,
	} {
		if unread == "" {
			w.stores[of] = cache.NewStore(cache.MetaNamespaceKeyFunc)
		}
	}
	return w
}

// start has every store filled, and waits until all are.
func (w *watcher) start(ctx context.Context) {
	var filled sync.WaitGroup
	for of, store := range w.stores {
		silent := logr.Discard()
		filled.Add(1)
		notifying := &notifyingStore{Store: store, changed: w.changed, filled: sync.OnceFunc(filled.Done)}
		reflector := cache.NewReflectorWithOptions(w.listWatch(of), &unstructured.Unstructured{}, notifying, cache.ReflectorOptions{
			Name: "kubectl-why/" + of.Resource, TypeDescription: of.Resource, Logger: &silent,
		})
		go reflector.RunWithContext(ctx)
	}
	done := make(chan struct{})
	go func() { filled.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (w *watcher) listWatch(of schema.GroupVersionResource) *cache.ListWatch {
	client := w.source.client.Resource(of).Namespace(w.source.namespace)
	selector := ""
	if of == workloads {
		selector = w.source.selector
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = selector
			return client.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = selector
			return client.Watch(ctx, options)
		},
	}
}

// wait returns true when something has changed and nothing has for a moment, and
// false when ctx ends.
func (w *watcher) wait(ctx context.Context) bool {
	select {
	case <-w.changed:
	case <-ctx.Done():
		return false
	}
	quiet := time.NewTimer(settle)
	defer quiet.Stop()
	for {
		select {
		case <-w.changed:
			quiet.Reset(settle)
		case <-quiet.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// snapshot is what the stores hold.
func (w *watcher) snapshot() (tree.Snapshot, error) {
	s := tree.Snapshot{NoDeployments: w.initial.NoDeployments, NoInstances: w.initial.NoInstances}
	var err error
	if s.Workloads, err = stored(w, workloads, readWorkload); err != nil {
		return s, err
	}
	if names := w.source.names; len(names) > 0 {
		s.Workloads = slices.DeleteFunc(s.Workloads, func(w tree.Workload) bool { return !slices.Contains(names, w.Name) })
	}
	if s.Deployments, err = stored(w, deployments, readDeployment); err != nil {
		return s, err
	}
	s.Instances, err = stored(w, instances, readInstance)
	return s, err
}

func stored[O, T any](w *watcher, of schema.GroupVersionResource, read func(*O) T) ([]T, error) {
	store := w.stores[of]
	if store == nil {
		return nil, nil
	}
	var found []T
	for _, o := range store.List() {
		object, err := decode[O](o.(*unstructured.Unstructured))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", of.Resource, err)
		}
		found = append(found, read(object))
	}
	return found, nil
}

// notifyingStore tells of every change.
type notifyingStore struct {
	cache.Store
	changed chan<- struct{}
	filled  func()
}

func (s *notifyingStore) tell(err error) error {
	select {
	case s.changed <- struct{}{}:
	default: // somebody is told already
	}
	return err
}

// Add takes in a new object.
func (s *notifyingStore) Add(o any) error { return s.tell(s.Store.Add(o)) }

// Update takes in a changed object.
func (s *notifyingStore) Update(o any) error { return s.tell(s.Store.Update(o)) }

// Delete takes in a deletion.
func (s *notifyingStore) Delete(o any) error { return s.tell(s.Store.Delete(o)) }

// Replace takes in a whole list.
func (s *notifyingStore) Replace(list []any, version string) error {
	err := s.Store.Replace(list, version)
	s.filled()
	return s.tell(err)
}
