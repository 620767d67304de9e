package platform

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// garbageCollector deletes deployments and Instances whose owner is gone, as
// the controller manager would. It knows background deletion only: foreground
// and orphan deletion leave their finalizer standing.
type garbageCollector struct{ *Controller }

func newGarbageCollector(o Options) (*garbageCollector, error) {
	base, err := newController(o, GarbageCollectorUser, WriterOptions{})
	if err != nil {
		return nil, err
	}
	g := &garbageCollector{base}
	err = g.collect("deployment-garbage", &computeapi.WorkloadDeployment{}, &computeapi.Workload{},
		func() client.ObjectList { return &computeapi.WorkloadDeploymentList{} })
	if err != nil {
		return nil, err
	}
	return g, g.collect("instance-garbage", &computeapi.Instance{}, &computeapi.WorkloadDeployment{},
		func() client.ObjectList { return &computeapi.InstanceList{} })
}

// collect looks at a child when it appears and when an owner disappears.
func (g *garbageCollector) collect(name string, child, owner client.Object, newList func() client.ObjectList) error {
	siblings := func(ctx context.Context, gone client.Object) []reconcile.Request {
		list := newList()
		if err := g.client.List(ctx, list, client.InNamespace(gone.GetNamespace())); err != nil {
			return nil // only when stopping: the list is read from the cache
		}
		return requestsFor(list)
	}
	never := func(event.UpdateEvent) bool { return false }
	return g.complete(g.build(name).
		For(child, builder.WithPredicates(predicate.Funcs{UpdateFunc: never})).
		Watches(owner, handler.EnqueueRequestsFromMapFunc(siblings), builder.WithPredicates(predicate.Funcs{
			CreateFunc: func(event.CreateEvent) bool { return false },
			UpdateFunc: never,
		})),
		func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, g.pass(ctx, child.DeepCopyObject().(client.Object), owner.DeepCopyObject().(client.Object), request)
		}, child, owner)
}

// pass deletes the child if the owner of its reference is gone. It asks the API
// server, never the cache, and deletes no other object of the same name.
func (g *garbageCollector) pass(ctx context.Context, child, owner client.Object, request reconcile.Request) error {
	if err := g.client.Get(ctx, request.NamespacedName, child); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !child.GetDeletionTimestamp().IsZero() || len(child.GetOwnerReferences()) == 0 {
		return nil
	}
	reference := child.GetOwnerReferences()[0]
	err := g.live.Get(ctx, client.ObjectKey{Namespace: request.Namespace, Name: reference.Name}, owner)
	switch {
	case err == nil && owner.GetUID() == reference.UID:
		return nil
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("reading the owner of %q: %w", request.NamespacedName, err)
	}
	uid := child.GetUID()
	err = g.client.Delete(ctx, child, client.Preconditions{UID: &uid})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil // it is another one by now
	}
	return err
}
