package statuspatch

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// watchBackoff bounds how long a watch that broke stays broken once the API
// server answers again: 2 s and its jitter, against client-go's 30 s.
func watchBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 5, Cap: 2 * time.Second}
}

// source feeds one resource's watch straight into the ledger, which is the only
// store there is: nothing is held twice.
type source struct {
	resource string
	example  runtime.Object
	synced   atomic.Bool
	freshness

	// The ledger's side. observe and forget take a decoded object, replace a
	// whole list.
	observe, forget func(any)
	replace         func([]any)
	// observed tells that observe and replace read more of Instances than the
	// ledger does.
	observed bool
	// begun, if set, is called after the first list.
	begun func()
}

func newSources(l *ledger.Ledger) (instances, deployments, workloads *source) {
	instances = &source{
		resource: resourceInstances,
		example:  &instanceObject{},
		observe:  func(o any) { l.ObserveInstance(readInstance(o.(*instanceObject))) },
		forget: func(o any) {
			i := &o.(*instanceObject).Metadata
			l.ForgetInstance(types.NamespacedName{Namespace: i.Namespace, Name: i.Name}, i.UID)
		},
		replace: func(list []any) { l.ReplaceInstances(convert(list, readInstance)) },
	}
	deployments = &source{
		resource: resourceDeployments,
		example:  &deploymentObject{},
		observe:  func(o any) { l.ObserveDeployment(readDeployment(o.(*deploymentObject))) },
		forget:   func(o any) { l.ForgetDeployment(o.(*deploymentObject).Metadata.UID) },
		replace:  func(list []any) { l.ReplaceDeployments(convert(list, readDeployment)) },
	}
	workloads = &source{
		resource: resourceWorkloads,
		example:  &workloadObject{},
		observe:  func(o any) { l.ObserveWorkload(readWorkload(o.(*workloadObject))) },
		forget:   func(o any) { l.ForgetWorkload(o.(*workloadObject).Metadata.UID) },
		replace:  func(list []any) { l.ReplaceWorkloads(convert(list, readWorkload)) },
	}
	return instances, deployments, workloads
}

func convert[O any, V any](list []any, read func(*O) *V) []*V {
	out := make([]*V, 0, len(list))
	for _, o := range list {
		out = append(out, read(o.(*O)))
	}
	return out
}

// run watches until ctx ends.
func (s *source) run(ctx context.Context, a *api, log logr.Logger) {
	s.begin()
	lw := cache.NewListWatchFromClient(a.rest, s.resource, metav1.NamespaceAll, fields.Everything())
	cache.NewReflectorWithOptions(lw, s.example, s, cache.ReflectorOptions{
		Name:            "causeway/" + s.resource,
		TypeDescription: s.resource,
		Backoff:         watchBackoff(),
		Logger:          &log,
	}).RunWithContext(ctx)
}

var _ cache.ReflectorStore = &source{}
var _ cache.TransformingStore = &source{}
var _ cache.ResourceVersionUpdater = &source{}

// Add takes in a new object.
func (s *source) Add(o any) error { s.event(); s.observe(o); return nil }

// Update takes in a changed object.
func (s *source) Update(o any) error { s.event(); s.observe(o); return nil }

// Delete takes in a deletion.
func (s *source) Delete(o any) error { s.event(); s.forget(o); return nil }

// Replace takes in a whole list.
func (s *source) Replace(list []any, _ string) error {
	s.UpdateResourceVersion("")
	s.replace(list)
	if first := !s.synced.Swap(true); first && s.begun != nil {
		s.begun()
	}
	return nil
}

// Resync has nothing to do: there is no second store to bring in line.
func (s *source) Resync() error { return nil }

// Transformer lets go of what is not used while a list is gathered.
func (s *source) Transformer() cache.TransformFunc {
	return func(o any) (any, error) {
		if o, ok := o.(*instanceObject); ok {
			o.slim(s.observed)
		}
		return o, nil
	}
}
