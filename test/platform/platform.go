package platform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// Platform is a running stand-in.
type Platform struct {
	// Workload, Deployment and Instance are the platform's controllers,
	// Federator writes RuntimeClassNotServed, GarbageCollector ends what lost
	// its owner. They are here to be paused and counted.
	Workload, Deployment, Instance, Federator, GarbageCollector *Controller
	// Provider says what becomes of Instances.
	Provider *Provider
	// StatusSyncer and DataResolver write only when they are told to.
	StatusSyncer *StatusSyncer
	DataResolver *DataResolver

	workloads   *workloadController
	deployments *deploymentController
	instances   *instanceController
	federator   *federator
	networks    *answers[Network]
	unserved    *answers[bool]

	all     []*Controller
	cancel  context.CancelFunc
	stopped sync.WaitGroup

	mu   sync.Mutex
	errs []error
}

// Start runs the platform until Stop is called or ctx ends. When it returns,
// all caches are filled. The CRDs must be served and RBAC installed.
func Start(ctx context.Context, options Options) (*Platform, error) {
	o, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Platform{networks: &answers[Network]{}, unserved: &answers[bool]{}}
	if err := p.connect(o); err != nil {
		return nil, fmt.Errorf("starting the platform: %w", err)
	}

	ctx, p.cancel = context.WithCancel(ctx)
	failed, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	for _, c := range p.all {
		p.stopped.Go(func() {
			if err := c.run(ctx); err != nil {
				p.mu.Lock()
				p.errs = append(p.errs, err)
				p.mu.Unlock()
				fail(err)
			}
		})
	}
	context.AfterFunc(ctx, p.openGates)
	for _, c := range p.all {
		if err := c.ready(failed); err != nil {
			return nil, fmt.Errorf("starting the platform: %w", errors.Join(err, p.Stop()))
		}
	}
	return p, nil
}

// connect makes all writers.
func (p *Platform) connect(o Options) error {
	var err error
	if p.workloads, err = newWorkloadController(o); err != nil {
		return err
	}
	if p.deployments, err = newDeploymentController(o, p.networks, p.unserved); err != nil {
		return err
	}
	if p.instances, err = newInstanceController(o, p.networks); err != nil {
		return err
	}
	if p.Provider, err = newProvider(o); err != nil {
		return err
	}
	if p.federator, err = newFederator(o, p.unserved); err != nil {
		return err
	}
	if p.StatusSyncer, err = newStatusSyncer(o); err != nil {
		return err
	}
	if p.DataResolver, err = newDataResolver(o); err != nil {
		return err
	}
	garbage, err := newGarbageCollector(o)
	if err != nil {
		return err
	}
	p.Workload, p.Deployment, p.Instance = p.workloads.Controller, p.deployments.Controller, p.instances.Controller
	p.Federator, p.GarbageCollector = p.federator.Controller, garbage.Controller
	p.all = []*Controller{p.Workload, p.Deployment, p.Instance, p.Provider.Controller, p.Federator, p.GarbageCollector}
	return nil
}

// Stop ends the platform and waits for it: afterwards nothing is written and no
// goroutine is left. It returns what made a controller end by itself. It may
// be called again.
func (p *Platform) Stop() error {
	p.cancel()
	p.openGates()
	p.stopped.Wait()
	for _, c := range slices.Concat(p.all, []*Controller{p.StatusSyncer.Controller, p.DataResolver.Controller}) {
		c.disconnect()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.errs...)
}

// openGates lets waiting passes see that their context has ended.
func (p *Platform) openGates() {
	for _, c := range p.all {
		c.Resume()
	}
}

// SetLocations changes where Instances can run; none at all is an error of
// every pass over a Workload (section 5).
func (p *Platform) SetLocations(ctx context.Context, locations ...Location) error {
	p.workloads.locations.set(locations)
	return p.Workload.enqueueAll(ctx, &computeapi.WorkloadList{})
}

// SetMissingNetworks names the networks that do not exist (section 5).
func (p *Platform) SetMissingNetworks(ctx context.Context, names ...string) error {
	p.workloads.missing.set(names)
	return p.Workload.enqueueAll(ctx, &computeapi.WorkloadList{})
}

// The setters below take the key of one object, of a namespace (no name) or of
// everything (the zero key). The narrowest counts, the zero value takes an
// answer back. They wake the controllers and do not wait for them.

// SetNetwork sets the state of Instances' networks; NetworkReady by default.
// It matters only with Options.Networking.
func (p *Platform) SetNetwork(ctx context.Context, instance types.NamespacedName, network Network) error {
	p.networks.put(instance, network)
	return errors.Join(
		p.Deployment.enqueueAll(ctx, &computeapi.WorkloadDeploymentList{}),
		p.Instance.enqueueAll(ctx, &computeapi.InstanceList{}),
	)
}

// SetQuota sets the quota service's answer; QuotaAvailable by default.
func (p *Platform) SetQuota(ctx context.Context, instance types.NamespacedName, answer Verdict) error {
	p.instances.quota.put(instance, answer)
	return p.Instance.enqueueAll(ctx, &computeapi.InstanceList{})
}

// SetReferencedData sets what an Instance that references data is told about
// it; DataReady by default.
func (p *Platform) SetReferencedData(ctx context.Context, instance types.NamespacedName, answer Verdict) error {
	p.instances.data.put(instance, answer)
	return p.Instance.enqueueAll(ctx, &computeapi.InstanceList{})
}

// SetLocationError sets why a deployment's location cannot be resolved: one of
// NoMatchingLocation, LocationMismatch and AmbiguousServingLocation.
func (p *Platform) SetLocationError(ctx context.Context, deployment types.NamespacedName, reason Verdict) error {
	p.deployments.locationErrors.put(deployment, reason)
	return p.Deployment.enqueueAll(ctx, &computeapi.WorkloadDeploymentList{})
}

// SetUnserved tells that no cell serves the class of a deployment. While that
// is so, the federator writes its Available and the deployment controller
// leaves it alone.
func (p *Platform) SetUnserved(ctx context.Context, deployment types.NamespacedName, unserved bool) error {
	p.unserved.put(deployment, unserved)
	return errors.Join(
		p.Federator.enqueueAll(ctx, &computeapi.WorkloadDeploymentList{}),
		p.Deployment.enqueueAll(ctx, &computeapi.WorkloadDeploymentList{}),
	)
}
