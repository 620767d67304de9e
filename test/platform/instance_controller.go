package platform

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// instanceController is today's instance controller (section 3.3).
type instanceController struct {
	*Controller
	networks *answers[Network] // all three by Instance
	quota    *answers[Verdict]
	data     *answers[Verdict]
}

func newInstanceController(o Options, networks *answers[Network]) (*instanceController, error) {
	base, err := newController(o, InstanceControllerUser, o.Instance)
	if err != nil {
		return nil, err
	}
	c := &instanceController{Controller: base, networks: networks, quota: &answers[Verdict]{}, data: &answers[Verdict]{}}
	return c, c.complete(c.build("instance").For(&computeapi.Instance{}), c.reconcile, &computeapi.Instance{})
}

func (c *instanceController) reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var result reconcile.Result
	var instance computeapi.Instance
	if err := c.client.Get(ctx, request.NamespacedName, &instance); err != nil {
		return result, client.IgnoreNotFound(err)
	}
	if !instance.DeletionTimestamp.IsZero() {
		return result, nil
	}
	stored := instance.DeepCopy()

	c.evaluate(request.NamespacedName, &instance)
	setReady(&instance, c.networks.get(request.NamespacedName, NetworkReady).failure())
	if !equality.Semantic.DeepEqual(stored.Status, instance.Status) {
		if err := c.status.write(ctx, &instance, stored); err != nil {
			return result, client.IgnoreNotFound(err)
		}
	}
	if err := c.lift(ctx, &instance); err != nil {
		return result, client.IgnoreNotFound(err)
	}
	if quota := verdictOf(computeapi.Condition(instance.Status.Conditions, computeapi.QuotaGrantedCondition)); quota.Status != metav1.ConditionTrue {
		result.RequeueAfter = quotaPoll(time.Since(instance.CreationTimestamp.Time))
	}
	return result, nil
}

// evaluate asks for quota and referenced data. Quota is not asked for again
// while the Instance is suspended (section 3.3, rule 1).
func (c *instanceController) evaluate(key types.NamespacedName, instance *computeapi.Instance) {
	conditions := &instance.Status.Conditions
	// QuotaPending is no answer yet: what the API server stamped stays.
	if answer := c.quota.get(key, QuotaAvailable); answer != QuotaPending && !instance.Status.Suspended {
		answer.set(conditions, computeapi.QuotaGrantedCondition, instance.Generation)
	}
	if referencesData(instance.Spec) {
		c.data.get(key, DataReady).set(conditions, computeapi.ReferencedDataReadyCondition, instance.Generation)
	}
}

// lift removes the gates whose condition is True for this generation. That
// makes a new generation, so the conditions are evaluated again.
func (c *instanceController) lift(ctx context.Context, instance *computeapi.Instance) error {
	gates := len(instance.Gates())
	for gate, conditionType := range map[string]string{
		computeapi.QuotaGate:          computeapi.QuotaGrantedCondition,
		computeapi.ReferencedDataGate: computeapi.ReferencedDataReadyCondition,
	} {
		condition := computeapi.Condition(instance.Status.Conditions, conditionType)
		if verdictOf(condition).Status == metav1.ConditionTrue && condition.ObservedGeneration == instance.Generation {
			removeGate(instance, gate)
		}
	}
	if len(instance.Gates()) == gates {
		return nil
	}
	if err := c.client.Update(ctx, instance); err != nil {
		return fmt.Errorf("removing gates of instance %q: %w", instance.Name, err)
	}
	return nil
}

// quotaPoll is how soon to ask again for quota that is not granted.
func quotaPoll(age time.Duration) time.Duration {
	switch {
	case age < 15*time.Second:
		return time.Second
	case age < time.Minute:
		return 15 * time.Second
	case age < 5*time.Minute:
		return time.Minute
	default:
		return 5 * time.Minute
	}
}
