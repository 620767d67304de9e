package platform

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// deploymentController is today's deployment controller (section 4).
type deploymentController struct {
	*Controller
	networking, parallel bool
	networks             *answers[Network] // by Instance
	locationErrors       *answers[Verdict] // by deployment
	unserved             *answers[bool]    // by deployment
}

func newDeploymentController(o Options, networks *answers[Network], unserved *answers[bool]) (*deploymentController, error) {
	base, err := newController(o, DeploymentControllerUser, o.Deployment)
	if err != nil {
		return nil, err
	}
	c := &deploymentController{
		Controller: base, networking: o.Networking, parallel: o.Parallel,
		networks: networks, locationErrors: &answers[Verdict]{}, unserved: unserved,
	}
	// Narrow on its own kind, every event of an owned Instance, no polling.
	return c, c.complete(c.build("deployment").
		For(&computeapi.WorkloadDeployment{}, builder.WithPredicates(predicate.Funcs{UpdateFunc: deploymentChanged})).
		Owns(&computeapi.Instance{}), c.reconcile,
		&computeapi.WorkloadDeployment{}, &computeapi.Instance{})
}

// deploymentChanged tells which updates of a deployment wake its controller:
// another writer's status is none of them, ReferencedDataReady apart.
func deploymentChanged(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*computeapi.WorkloadDeployment), e.ObjectNew.(*computeapi.WorkloadDeployment)
	resolved := func(d *computeapi.WorkloadDeployment) Verdict {
		return verdictOf(computeapi.Condition(d.Status.Conditions, computeapi.ReferencedDataReadyCondition))
	}
	return before.Generation != after.Generation ||
		before.Annotations[computeapi.SuspendedAnnotation] != after.Annotations[computeapi.SuspendedAnnotation] ||
		before.Status.Suspended != after.Status.Suspended ||
		resolved(before) != resolved(after)
}

func (c *deploymentController) reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var none reconcile.Result
	var deployment computeapi.WorkloadDeployment
	if err := c.client.Get(ctx, request.NamespacedName, &deployment); err != nil {
		return none, client.IgnoreNotFound(err)
	}
	if c.unserved.get(request.NamespacedName, false) {
		// No cell serves its class, so no cell has a copy of it to work on.
		return none, nil
	}
	stored := deployment.DeepCopy()

	// What this pass does to Instances shows in the next one: a new Instance
	// is not counted yet, a terminating one still is.
	instances, err := c.instances(ctx, &deployment)
	if err != nil {
		return none, err
	}
	facts := deploymentFacts{
		instances: instances, hash: templateHash(deployment.Spec.Template),
		locationError:  c.locationErrors.get(request.NamespacedName, Verdict{}),
		networkWaiting: c.networking && slices.ContainsFunc(instances, func(i computeapi.Instance) bool { return !c.networkReady(&i) }),
	}
	deployment.Status.Suspended = deployment.Annotations[computeapi.SuspendedAnnotation] == "true"
	setDeploymentStatus(&deployment, facts)

	if err := c.tend(ctx, &deployment, instances); err != nil {
		return none, err
	}
	if facts.locationError.Reason == "" {
		if err := c.rollOut(ctx, &deployment, instances); err != nil {
			return none, err
		}
	}
	if equality.Semantic.DeepEqual(stored.Status, deployment.Status) {
		return none, nil
	}
	return none, c.status.write(ctx, &deployment, stored)
}

// instances lists the Instances of a deployment by label, in their order.
func (c *deploymentController) instances(ctx context.Context, deployment *computeapi.WorkloadDeployment) ([]computeapi.Instance, error) {
	var list computeapi.InstanceList
	err := c.client.List(ctx, &list, client.InNamespace(deployment.Namespace),
		client.MatchingLabels{computeapi.WorkloadDeploymentUIDLabel: string(deployment.UID)})
	if err != nil {
		return nil, fmt.Errorf("listing instances: %w", err)
	}
	slices.SortFunc(list.Items, func(a, b computeapi.Instance) int { return strings.Compare(a.Name, b.Name) })
	return list.Items, nil
}

// networkReady tells whether an Instance has its network. A terminating one
// has lost it (section 4).
func (c *deploymentController) networkReady(instance *computeapi.Instance) bool {
	return instance.DeletionTimestamp.IsZero() &&
		c.networks.get(client.ObjectKeyFromObject(instance), NetworkReady) == NetworkReady
}

// tend keeps the Instances' labels, Network gates and suspension as they
// should be.
func (c *deploymentController) tend(ctx context.Context, deployment *computeapi.WorkloadDeployment, instances []computeapi.Instance) error {
	for i := range instances {
		instance := instances[i].DeepCopy()
		stampLabels(instance, deployment)
		if c.networkReady(instance) {
			removeGate(instance, computeapi.NetworkGate)
		}
		if !equality.Semantic.DeepEqual(instance, &instances[i]) {
			if err := c.client.Update(ctx, instance); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("updating instance %q: %w", instance.Name, err)
			}
		}
		if instance.Status.Suspended == deployment.Status.Suspended {
			continue
		}
		// No lock: it does not care what else happened to the Instance.
		patch := fmt.Appendf(nil, `{"status":{"suspended":%t}}`, deployment.Status.Suspended)
		err := c.client.Status().Patch(ctx, instance, client.RawPatch(types.MergePatchType, patch))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("suspending instance %q: %w", instance.Name, err)
		}
	}
	return nil
}
