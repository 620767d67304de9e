package platform

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// federator says that no cell serves a deployment's class (section 3.1). The
// deployment controller, which lives in the cell, then has no copy to work on.
type federator struct {
	*Controller
	unserved *answers[bool] // by deployment
}

func newFederator(o Options, unserved *answers[bool]) (*federator, error) {
	base, err := newController(o, FederatorUser, WriterOptions{})
	if err != nil {
		return nil, err
	}
	f := &federator{Controller: base, unserved: unserved}
	return f, f.complete(f.build("federator").For(&computeapi.WorkloadDeployment{}), f.reconcile, &computeapi.WorkloadDeployment{})
}

func (f *federator) reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var none reconcile.Result
	if !f.unserved.get(request.NamespacedName, false) {
		return none, nil
	}
	var deployment computeapi.WorkloadDeployment
	if err := f.client.Get(ctx, request.NamespacedName, &deployment); err != nil {
		return none, client.IgnoreNotFound(err)
	}
	stored := deployment.DeepCopy()
	conditions := &deployment.Status.Conditions
	if verdictOf(computeapi.Condition(*conditions, computeapi.AvailableCondition)).Status == metav1.ConditionTrue {
		return none, nil // what serves somewhere is left alone
	}
	Verdict{metav1.ConditionFalse, "RuntimeClassNotServed", fmt.Sprintf(
		"No cell in %s serves runtime class %q, so it has nowhere to run",
		locationOf(&deployment).Name, deployment.Spec.Template.Spec.Runtime.Class,
	)}.set(conditions, computeapi.AvailableCondition, deployment.Generation)
	if equality.Semantic.DeepEqual(stored.Status, deployment.Status) {
		return none, nil
	}
	return none, client.IgnoreNotFound(f.status.write(ctx, &deployment, stored))
}
