package main

import (
	"context"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// startBesidePlatform starts a control plane with the stand-in platform, whose
// provider says nothing, and Causeway's status half.
func (e *env) startBesidePlatform(ctx context.Context) (*environment.Environment, error) {
	if err := e.close(); err != nil {
		return nil, err
	}
	return e.startWithCauseway(ctx, environment.Options{
		DeployOverlay: "default", Without: []string{environment.Refusal}, Statuspatch: 1,
		Platform: &platform.Options{Initial: platform.Silent, Parallel: true, Locations: platform.NamedLocations("us")},
	})
}

// newPlatformFleet creates Workloads of so many Instances and has the platform
// make all the rest. It returns when the platform is done.
func newPlatformFleet(ctx context.Context, e *environment.Environment, namespace string, workloads, replicas int) (*fleet, error) {
	f := &fleet{Environment: e, namespace: namespace, perDeployment: replicas, perWorkload: 1}
	customer, err := e.Client(environment.Customer)
	if err != nil {
		return nil, err
	}
	if err := e.CreateNamespace(ctx, namespace); err != nil {
		return nil, err
	}
	for n := range workloads {
		f.workloads = append(f.workloads, "shop-"+strconv.Itoa(n))
		w := computeapi.NewWorkload(namespace, f.workloads[n], computeapi.WithPlacement("main", int32(replicas), "us"))
		if err := customer.Create(ctx, w); err != nil {
			return nil, err
		}
	}
	if err := waitFor(ctx, "the platform to make all Instances", func() (bool, string) { return f.learn(ctx, customer) }); err != nil {
		return nil, err
	}
	return f, quiet(ctx, e)
}

// learn tells whether every Instance is there, may run, and is counted in its
// Workload, and learns the names.
func (f *fleet) learn(ctx context.Context, c client.Client) (bool, string) {
	var workloads computeapi.WorkloadList
	var deployments computeapi.WorkloadDeploymentList
	var instances computeapi.InstanceList
	for _, list := range []client.ObjectList{&workloads, &deployments, &instances} {
		if err := c.List(ctx, list, client.InNamespace(f.namespace)); err != nil {
			return false, err.Error()
		}
	}
	byWorkload, byName := map[string]string{}, map[string]computeapi.Instance{}
	for _, d := range deployments.Items {
		byWorkload[d.Spec.WorkloadRef.Name] = d.Name
	}
	for _, i := range instances.Items {
		byName[i.Name] = i
	}
	for _, w := range workloads.Items {
		if w.Status.Replicas != int32(f.perDeployment) {
			return false, fmt.Sprintf("%s counts %d Instances", w.Name, w.Status.Replicas)
		}
	}
	f.deployments, f.instances = nil, nil
	var quota []metav1.Condition
	for _, w := range f.workloads {
		f.deployments = append(f.deployments, byWorkload[w])
		for n := range f.perDeployment {
			name := platform.InstanceName(byWorkload[w], n)
			i, ok := byName[name]
			granted := computeapi.Condition(i.Status.Conditions, computeapi.QuotaGrantedCondition)
			if !ok || len(i.Gates()) > 0 || granted == nil || granted.Status != metav1.ConditionTrue || granted.ObservedGeneration != i.Generation {
				return false, name + " may not run yet"
			}
			f.instances, quota = append(f.instances, name), append(quota, *granted)
		}
	}
	if err := f.man(); err != nil {
		return false, err.Error()
	}
	f.quota = quota
	return true, ""
}

// quiet returns when the platform's controllers have not written for a second.
func quiet(ctx context.Context, e *environment.Environment) error {
	const polls = 100 // of 10 ms
	calls, unchanged := int64(-1), 0
	return waitFor(ctx, "the platform to be quiet", func() (bool, string) {
		now := int64(0)
		for _, c := range []*platform.Controller{e.Platform.Workload, e.Platform.Deployment, e.Platform.Instance} {
			now += c.Writes().Calls
		}
		if unchanged++; now != calls {
			calls, unchanged = now, 0
		}
		return unchanged >= polls, fmt.Sprintf("%d writes", now)
	})
}

// platformParentWrites are the writes of parents that the platform's controllers sent and
// those that were stored.
func platformParentWrites(e *environment.Environment) (all platform.Writes) {
	for _, c := range []*platform.Controller{e.Platform.Workload, e.Platform.Deployment} {
		w := c.Writes()
		all.Calls, all.Stored, all.Conflicts = all.Calls+w.Calls, all.Stored+w.Stored, all.Conflicts+w.Conflicts
	}
	return all
}
