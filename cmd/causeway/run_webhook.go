package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/webhook"
)

// runWebhook is `causeway webhook`.
func runWebhook(ctx context.Context, o *webhookOptions) error {
	return start(ctx, "webhook", &o.commonOptions, func(ctx context.Context, env environment) (service, error) {
		if !env.served["runtimeclasses"] {
			return service{}, fmt.Errorf("the control plane at %s has no runtimeclasses.%s, by which capabilities are granted: install the CRDs of the compute API, or deploy/overlays/status-only where there are no runtime classes",
				env.config.Host, webhook.Group)
		}
		reads, err := newClassReads(ctx, env.config)
		if err != nil {
			return service{}, err
		}
		w, err := webhook.New(webhook.Options{
			Classes:    reads.cached,
			Live:       reads.live,
			Mode:       webhook.Mode(o.Capabilities),
			Registerer: env.registerer,
		})
		if err != nil {
			return service{}, err
		}
		if err := reads.watch(w.ClassChanged); err != nil {
			return service{}, err
		}
		return service{
			register: func(mux *http.ServeMux) { w.Register(mux) },
			run:      reads.cached.Start,
			ready:    []check{{"caches", reads.synced}},
		}, nil
	})
}

// classReads are the two ways the webhook reads: from memory, and from the API server itself.
type classReads struct {
	cached cache.Cache
	live   client.Reader
	synced func() error
	// watch has somebody told of every class that is found, changed or deleted.
	watch func(func(before, after *webhook.RuntimeClass)) error
}

// warmTimeout bounds the one live read before the process is ready.
const warmTimeout = 4 * time.Second

// newClassReads leaves nothing for the first review to set up: the mapping of kinds to resources is written here instead
// of being discovered, and a live read is made, so that its connection is up and its permission proven.
func newClassReads(ctx context.Context, config *rest.Config) (*classReads, error) {
	scheme := runtime.NewScheme()
	if err := webhook.AddToScheme(scheme); err != nil {
		return nil, err
	}
	mapper := classMapper()
	cached, informer, err := newClassCache(ctx, config, cache.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, err
	}
	live, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("setting up live reads: %w", err)
	}
	warming, cancel := context.WithTimeout(ctx, warmTimeout)
	defer cancel()
	err = live.List(warming, &webhook.RuntimeClassList{}, client.Limit(1))
	if apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("may not list runtime classes: %w: apply deploy/components/refusal/rbac.yaml", err)
	}
	if err != nil {
		return nil, fmt.Errorf("listing runtime classes: %w: check that the API server is well", err)
	}
	return &classReads{
		cached: cached,
		live:   live,
		synced: func() error {
			if !informer.HasSynced() {
				return errors.New("the runtime classes are not all here yet")
			}
			return nil
		},
		watch: func(tell func(before, after *webhook.RuntimeClass)) error {
			_, err := informer.AddEventHandler(classEvents(tell))
			return err
		},
	}, nil
}

func classEvents(tell func(before, after *webhook.RuntimeClass)) toolscache.ResourceEventHandler {
	class := func(o any) *webhook.RuntimeClass {
		if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
			o = gone.Obj
		}
		return o.(*webhook.RuntimeClass)
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { tell(nil, class(o)) },
		UpdateFunc: func(before, after any) { tell(class(before), class(after)) },
		DeleteFunc: func(o any) { tell(class(o), nil) },
	}
}

// newClassCache makes a cache of runtime classes and of nothing else; o has the scheme and the mapper.
func newClassCache(ctx context.Context, config *rest.Config, o cache.Options) (cache.Cache, cache.Informer, error) {
	o.ReaderFailOnMissingInformer = true // a kind read by mistake is an error, not one more watch
	o.DefaultTransform = stripUnused
	cached, err := cache.New(config, o)
	if err != nil {
		return nil, nil, fmt.Errorf("setting up the cache of runtime classes: %w", err)
	}
	informer, err := cached.GetInformer(ctx, &webhook.RuntimeClass{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, nil, fmt.Errorf("setting up the cache of runtime classes: %w", err)
	}
	return cached, informer, nil
}

func classMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind, scope := range map[string]meta.RESTScope{
		"RuntimeClass":       meta.RESTScopeRoot,
		"Workload":           meta.RESTScopeNamespace,
		"WorkloadDeployment": meta.RESTScopeNamespace,
	} {
		mapper.Add(webhook.GroupVersion.WithKind(kind), scope)
	}
	return mapper
}

// stripUnused keeps of metadata what a cache needs. The types of the webhook package drop the rest of the object already.
func stripUnused(o any) (any, error) {
	object, err := meta.Accessor(o)
	if err != nil {
		return o, nil // a tombstone
	}
	object.SetManagedFields(nil)
	object.SetAnnotations(nil)
	object.SetLabels(nil)
	return o, nil
}
