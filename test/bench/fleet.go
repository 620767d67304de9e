package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
)

// fleet is a namespace of Workloads that nobody but the bench, and Causeway where
// it runs, writes. Its deployments have a placement of their Workload each.
type fleet struct {
	*environment.Environment
	namespace string
	// perDeployment is how many Instances a deployment has; perWorkload how many
	// deployments a Workload.
	perDeployment, perWorkload int
	// instances, deployments and workloads are their names, in order.
	instances, deployments, workloads []string
	writers                           []writer
	// quota is each Instance's QuotaGranted, which every write repeats.
	quota []metav1.Condition

	// turns tells for each Instance how often it was written. Each has one writer.
	turns []int
}

// newFleet creates so many Instances, with their parents, and a writer for each.
func newFleet(ctx context.Context, e *environment.Environment, namespace string, labels map[string]string, instances, perDeployment, perWorkload int) (*fleet, error) {
	f := &fleet{Environment: e, namespace: namespace, perDeployment: perDeployment, perWorkload: perWorkload}
	for n := range instances {
		f.instances = append(f.instances, "shop-instance-"+strconv.Itoa(n))
	}
	for d := range instances / perDeployment {
		f.deployments = append(f.deployments, "shop-deployment-"+strconv.Itoa(d))
	}
	for w := range len(f.deployments) / perWorkload {
		f.workloads = append(f.workloads, "shop-"+strconv.Itoa(w))
	}
	if err := f.man(); err != nil {
		return nil, err
	}
	admin, err := e.Client(controlplane.Installer)
	if err != nil {
		return nil, err
	}
	if err := admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: labels}}); err != nil {
		return nil, fmt.Errorf("creating namespace %s: %w", namespace, err)
	}
	customer, err := e.Client(environment.Customer)
	if err != nil {
		return nil, err
	}
	for w := range f.workloads {
		if err := f.createWorkload(ctx, customer, w); err != nil {
			return nil, fmt.Errorf("creating the fleet in %s: %w", namespace, err)
		}
	}
	return f, nil
}

// man gives each Instance a writer, and a turn and quota to begin with.
func (f *fleet) man() (err error) {
	f.turns = make([]int, len(f.instances))
	f.quota = make([]metav1.Condition, len(f.instances))
	for n := range f.quota {
		f.quota[n] = condition(computeapi.QuotaGrantedCondition, metav1.Now(), granted, granted.message)
	}
	f.writers, err = newWriters(f.Environment, len(f.instances))
	return err
}

// What an Instance is part of follows from its number.
func (f *fleet) deploymentOf(instance int) int { return instance / f.perDeployment }
func (f *fleet) workloadOf(instance int) int   { return f.deploymentOf(instance) / f.perWorkload }

func placementName(d int) string { return "placement-" + strconv.Itoa(d) }

func (f *fleet) path(resource, name string) string {
	return "/apis/" + computeapi.GroupVersion.String() + "/namespaces/" + f.namespace + "/" + resource + "/" + name
}

func (f *fleet) instancePath(n int) string { return f.path("instances", f.instances[n]) }
func (f *fleet) deploymentPath(n int) string {
	return f.path("workloaddeployments", f.deployments[f.deploymentOf(n)])
}
func (f *fleet) workloadPath(n int) string { return f.path("workloads", f.workloads[f.workloadOf(n)]) }

// createWorkload creates one Workload with all that belongs to it, and writes the
// first statuses, as the platform's controllers would.
func (f *fleet) createWorkload(ctx context.Context, c client.Client, number int) error {
	var placements []computeapi.WorkloadTweak
	first := number * f.perWorkload
	for d := first; d < first+f.perWorkload; d++ {
		placements = append(placements, computeapi.WithPlacement(placementName(d), int32(f.perDeployment), "us"))
	}
	w := computeapi.NewWorkload(f.namespace, f.workloads[number], placements...)
	if err := c.Create(ctx, w); err != nil {
		return err
	}
	yes := true
	for i, d := range w.Spec.Placements {
		deployment := &computeapi.WorkloadDeployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: f.deployments[first+i], OwnerReferences: []metav1.OwnerReference{{
				APIVersion: computeapi.GroupVersion.String(), Kind: "Workload", Name: w.Name, UID: w.UID, Controller: &yes,
			}}},
			Spec: computeapi.WorkloadDeploymentSpec{
				WorkloadRef: computeapi.WorkloadReference{Name: w.Name, UID: w.UID}, PlacementName: d.Name,
				LocationRef: &computeapi.LocationReference{Name: "us"}, Template: w.Spec.Template, ScaleSettings: d.ScaleSettings,
			},
		}
		if err := c.Create(ctx, deployment); err != nil {
			return err
		}
		deployment.Status = deploymentStatus(int32(f.perDeployment), metav1.Now(), provisioning, provisioning.message)
		if err := c.Status().Update(ctx, deployment); err != nil {
			return err
		}
		if err := f.createInstances(ctx, c, deployment, (first+i)*f.perDeployment); err != nil {
			return err
		}
	}
	w.Status = workloadStatus(f.perWorkload, int32(f.perDeployment), first, metav1.Now(), provisioning, provisioning.message)
	return c.Status().Update(ctx, w)
}

func (f *fleet) createInstances(ctx context.Context, c client.Client, deployment *computeapi.WorkloadDeployment, first int) error {
	yes := true
	var group sync.WaitGroup
	errs := make(chan error, f.perDeployment)
	for n := first; n < first+f.perDeployment; n++ {
		group.Go(func() {
			errs <- c.Create(ctx, &computeapi.Instance{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: f.namespace, Name: f.instances[n],
					Labels: map[string]string{computeapi.InstanceIndexLabel: strconv.Itoa(n - first)},
					OwnerReferences: []metav1.OwnerReference{{
						APIVersion: computeapi.GroupVersion.String(), Kind: "WorkloadDeployment", Name: deployment.Name, UID: deployment.UID, Controller: &yes,
					}},
				},
				Spec: deployment.Spec.Template.Spec,
			})
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// flip writes an Instance's conditions, so that they say something else than
// before: by turns that it crashes and that its image is missing, each time in
// other words. That changes what its parents have to say, and not how many
// Instances are ready.
func (f *fleet) flip(ctx context.Context, w writer, n int) error {
	f.turns[n]++
	s, detail := failure(n, f.turns[n])
	return f.say(ctx, w, n, s, detail)
}

// say writes an Instance's conditions as a provider does: the whole list, since
// lists are atomic.
func (f *fleet) say(ctx context.Context, w writer, n int, s state, detail string) error {
	patch, err := instancePatch(s, detail, f.quota[n])
	if err != nil {
		return err
	}
	_, err = w.send(ctx, http.MethodPatch, f.instancePath(n)+"/status", mergePatch, patch)
	return err
}

// address writes something of an Instance's status that is no condition.
func (f *fleet) address(ctx context.Context, w writer, n int) error {
	f.turns[n]++
	patch := fmt.Appendf(nil, `{"status":{"networkInterfaces":[{"name":"eth0","assignments":{"networkIP":"10.0.%d.%d"}}]}}`, f.turns[n]/250, f.turns[n]%250)
	_, err := w.send(ctx, http.MethodPatch, f.instancePath(n)+"/status", mergePatch, patch)
	return err
}

// flipAll does what Causeway does, as a client, and nobody judges what is right:
// the Instance and then each of its parents are written. The deployment and the
// Workload may not be another writer's.
func (f *fleet) flipAll(ctx context.Context, w writer, n int) error {
	if err := f.flip(ctx, w, n); err != nil {
		return err
	}
	s, detail := failure(n, f.turns[n])
	sentence := s.one(detail)
	for path, status := range map[string]any{
		f.deploymentPath(n): deploymentStatus(int32(f.perDeployment), metav1.Now(), s, sentence),
		f.workloadPath(n):   workloadStatus(f.perWorkload, int32(f.perDeployment), f.deploymentOf(n), metav1.Now(), s, sentence),
	} {
		patch, err := json.Marshal(map[string]any{"status": status})
		if err != nil {
			return err
		}
		if _, err := w.send(ctx, http.MethodPatch, path+"/status", mergePatch, patch); err != nil {
			return err
		}
	}
	return nil
}
