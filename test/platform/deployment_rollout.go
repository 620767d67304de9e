package platform

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// rollout is what a pass does about the number and the templates of Instances.
type rollout struct {
	create []int                  // ordinals
	remove []*computeapi.Instance // scaled down, or to be made anew
}

// rollOut carries out the next step.
func (c *deploymentController) rollOut(ctx context.Context, deployment *computeapi.WorkloadDeployment, instances []computeapi.Instance) error {
	plan := planOrdered
	if c.parallel {
		plan = planParallel
	}
	next := plan(int(deployment.DesiredReplicas()), templateHash(deployment.Spec.Template), instances)
	for _, instance := range next.remove {
		if err := c.client.Delete(ctx, instance); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting instance %q: %w", instance.Name, err)
		}
	}
	for _, ordinal := range next.create {
		instance := newInstance(deployment, ordinal, c.networking)
		if err := c.client.Create(ctx, instance); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating instance %q: %w", instance.Name, err)
		}
	}
	return nil
}

// planOrdered takes one action per pass: strays first, then create or wait in
// ascending order, then replace and then scale down in descending order
// (section 2). An Instance that is not Ready makes it wait even when its hash
// is stale, so a failing one is not replaced after its template is corrected.
func planOrdered(desired int, hash string, instances []computeapi.Instance) rollout {
	byOrdinal, strays := arrange(instances)
	if len(strays) > 0 {
		return rollout{remove: strays[:1]}
	}
	for ordinal := range desired {
		instance, exists := byOrdinal[ordinal]
		if !exists {
			return rollout{create: []int{ordinal}}
		}
		ready := verdictOf(computeapi.Condition(instance.Status.Conditions, computeapi.ReadyCondition))
		if !instance.DeletionTimestamp.IsZero() || ready.Status != metav1.ConditionTrue {
			return rollout{}
		}
	}
	for ordinal := desired - 1; ordinal >= 0; ordinal-- {
		if instance := byOrdinal[ordinal]; stale(instance, hash) {
			return rollout{remove: []*computeapi.Instance{instance}}
		}
	}
	if extra := beyond(desired, byOrdinal); len(extra) > 0 {
		return rollout{remove: extra[:1]}
	}
	return rollout{}
}

// planParallel does all of it at once and waits for nothing.
func planParallel(desired int, hash string, instances []computeapi.Instance) rollout {
	byOrdinal, remove := arrange(instances)
	var create []int
	for ordinal := range desired {
		instance, exists := byOrdinal[ordinal]
		switch {
		case !exists:
			create = append(create, ordinal)
		case stale(instance, hash) && instance.DeletionTimestamp.IsZero():
			remove = append(remove, instance)
		}
	}
	return rollout{create: create, remove: append(remove, beyond(desired, byOrdinal)...)}
}

// arrange sorts Instances by their index label, never by their name. Strays
// have none, or one that is taken.
func arrange(instances []computeapi.Instance) (byOrdinal map[int]*computeapi.Instance, strays []*computeapi.Instance) {
	byOrdinal = map[int]*computeapi.Instance{}
	for i := range instances {
		instance := &instances[i]
		ordinal, err := strconv.Atoi(instance.Labels[computeapi.InstanceIndexLabel])
		switch {
		case err == nil && ordinal >= 0 && byOrdinal[ordinal] == nil:
			byOrdinal[ordinal] = instance
		case instance.DeletionTimestamp.IsZero():
			strays = append(strays, instance)
		}
	}
	return byOrdinal, strays
}

// beyond returns the Instances that are too many, the highest first.
func beyond(desired int, byOrdinal map[int]*computeapi.Instance) []*computeapi.Instance {
	var ordinals []int
	for ordinal, instance := range byOrdinal {
		if ordinal >= desired && instance.DeletionTimestamp.IsZero() {
			ordinals = append(ordinals, ordinal)
		}
	}
	slices.Sort(ordinals)
	slices.Reverse(ordinals)
	var extra []*computeapi.Instance
	for _, ordinal := range ordinals {
		extra = append(extra, byOrdinal[ordinal])
	}
	return extra
}

func stale(instance *computeapi.Instance, hash string) bool {
	return instance.Spec.Controller == nil || instance.Spec.Controller.TemplateHash != hash
}
