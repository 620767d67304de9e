package statuspatch

import (
	"context"
	"sync/atomic"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/causeway-webhook/causeway/statuspatch/podstore"
)

// podSource feeds the watch of Pods into the store.
type podSource struct {
	store *podstore.Store
	// selector are the labels of the Pods to look at; empty for all.
	selector string
	synced   atomic.Bool
	freshness
}

func (s *podSource) run(ctx context.Context, a *api, log logr.Logger) {
	s.begin()
	lw := cache.NewFilteredListWatchFromClient(a.core.CoreV1().RESTClient(), resourcePods, metav1.NamespaceAll,
		func(o *metav1.ListOptions) { o.LabelSelector = s.selector })
	cache.NewReflectorWithOptions(lw, &corev1.Pod{}, s, cache.ReflectorOptions{
		Name:            "causeway/pods",
		TypeDescription: resourcePods,
		Backoff:         watchBackoff(),
		Logger:          &log,
	}).RunWithContext(ctx)
}

var _ cache.ReflectorStore = &podSource{}
var _ cache.TransformingStore = &podSource{}
var _ cache.ResourceVersionUpdater = &podSource{}

// Add takes in a new Pod.
func (s *podSource) Add(o any) error { s.event(); s.store.ObservePod(o.(*corev1.Pod)); return nil }

// Update takes in a changed Pod.
func (s *podSource) Update(o any) error { s.event(); s.store.ObservePod(o.(*corev1.Pod)); return nil }

// Delete takes in a deletion.
func (s *podSource) Delete(o any) error { s.event(); s.store.ForgetPod(o.(*corev1.Pod)); return nil }

// Replace takes in a whole list.
func (s *podSource) Replace(list []any, _ string) error {
	pods := make([]*corev1.Pod, len(list))
	for i, o := range list {
		pods[i] = o.(*corev1.Pod)
	}
	s.UpdateResourceVersion("")
	s.store.ReplacePods(pods)
	s.synced.Store(true)
	return nil
}

// Resync has nothing to do: there is no second store to bring in line.
func (s *podSource) Resync() error { return nil }

// Transformer lets go of the bulk of each Pod while a list is gathered.
func (s *podSource) Transformer() cache.TransformFunc {
	return func(o any) (any, error) {
		if pod, ok := o.(*corev1.Pod); ok {
			return podstore.Trim(pod), nil
		}
		return o, nil
	}
}

// follow has the store see what the watch of Instances delivers to the ledger.
func (p *pods) follow(s *source) {
	s.observed = true
	observe, forget, replace := s.observe, s.forget, s.replace
	s.observe = func(o any) {
		observe(o)
		p.store.ObserveInstance(observedInstance(o.(*instanceObject)))
	}
	s.forget = func(o any) {
		forget(o)
		i := &o.(*instanceObject).Metadata
		p.store.ForgetInstance(types.NamespacedName{Namespace: i.Namespace, Name: i.Name}, i.UID)
	}
	s.replace = func(list []any) {
		replace(list)
		p.store.ReplaceInstances(convert(list, observedInstance))
	}
}
