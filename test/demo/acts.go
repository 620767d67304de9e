package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/demo/kubectl"
	"github.com/causeway-webhook/causeway/test/platform"
)

// promise is how soon both parents are true after any loss.
const promise = 5 * time.Second

// install puts Causeway beside the platform.
func install(ctx context.Context, w *world) error { return w.Install(ctx, "default", 1, 2) }

// instances are the Instances there are, by ordinal.
func (w *world) instances(ctx context.Context) ([]computeapi.Instance, error) {
	var list computeapi.InstanceList
	if err := w.reader.List(ctx, &list, client.InNamespace(kubectl.Namespace)); err != nil {
		return nil, fmt.Errorf("listing instances: %w", err)
	}
	// The names differ in their last digit only: there are less than ten.
	slices.SortFunc(list.Items, func(a, b computeapi.Instance) int { return cmp.Compare(a.Name, b.Name) })
	return list.Items, nil
}

func (w *world) report(ctx context.Context, state platform.State, ordinals []int) error {
	instances, err := w.instances(ctx)
	if err != nil {
		return err
	}
	for _, i := range ordinals {
		if i >= len(instances) {
			return fmt.Errorf("there is no instance %d: there are %d", i, len(instances))
		}
		if err := w.Platform.Provider.Set(ctx, client.ObjectKeyFromObject(&instances[i]), state); err != nil {
			return err
		}
	}
	return nil
}

// ready is reached when so many Instances say Ready with that status and that
// reason, and the others say something else.
func ready(count int, status metav1.ConditionStatus, reason string) func(context.Context, *world) (bool, string) {
	return func(ctx context.Context, w *world) (bool, string) {
		instances, err := w.instances(ctx)
		if err != nil {
			return false, err.Error()
		}
		found := 0
		for _, i := range instances {
			if says(i.Status.Conditions, computeapi.ReadyCondition, status, reason) {
				found++
			}
		}
		return found == count, fmt.Sprintf("%d of %d instances", found, len(instances))
	}
}

// counted is reached when the platform's own counts in the Workload are these:
// then its controllers have written all they had to.
func counted(ready, replicas int32) func(context.Context, *world) (bool, string) {
	return func(ctx context.Context, w *world) (bool, string) {
		var workload computeapi.Workload
		if err := w.reader.Get(ctx, workloadKey, &workload); err != nil {
			return false, err.Error()
		}
		s := workload.Status
		return s.ReadyReplicas == ready && s.Replicas == replicas, fmt.Sprintf("%d/%d", s.ReadyReplicas, s.Replicas)
	}
}

var workloadKey = client.ObjectKey{Namespace: kubectl.Namespace, Name: "api"}

// nothingLeft is reached when a deleted Workload's children are gone too.
func nothingLeft(ctx context.Context, w *world) (bool, string) {
	var deployments computeapi.WorkloadDeploymentList
	err := w.reader.List(ctx, &deployments)
	instances, more := w.instances(ctx)
	if err := errors.Join(err, more); err != nil {
		return false, err.Error()
	}
	n := len(instances) + len(deployments.Items)
	return n == 0, fmt.Sprintf("%d objects", n)
}

// kill ends the active statuspatch process as a crash would.
func kill(ctx context.Context, w *world) error {
	if err := w.WaitActive(ctx); err != nil {
		return err
	}
	active := w.StatusFront.Active()
	if active == nil {
		return errors.New("no statuspatch process is active")
	}
	w.killed = time.Now()
	active.Kill()
	return nil
}

// parentsSay watches both parents for as long as the promise lasts, and tells
// how long after the kill they began to give the reason and did not stop: a
// truth that the platform takes back once more is none yet.
func parentsSay(reason string) func(context.Context, *world) (string, error) {
	return func(ctx context.Context, w *world) (string, error) {
		var since time.Time
		look := time.NewTicker(10 * time.Millisecond)
		defer look.Stop()
		for time.Since(w.killed) < promise {
			select {
			case <-look.C:
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
			said, err := w.bothSay(ctx, reason)
			switch {
			case err != nil:
				return "", err
			case !said:
				since = time.Time{}
			case since.IsZero():
				since = time.Now()
			}
		}
		if since.IsZero() {
			return "", fmt.Errorf("%s after the kill not both parents say %s", duration(promise), reason)
		}
		return fmt.Sprintf("both parents are true from %s after the kill on\n", duration(since.Sub(w.killed))), nil
	}
}

// bothSay tells whether the deployment and the Workload are both not available,
// for that reason.
func (w *world) bothSay(ctx context.Context, reason string) (bool, error) {
	var workload computeapi.Workload
	var deployments computeapi.WorkloadDeploymentList
	if err := errors.Join(w.reader.Get(ctx, workloadKey, &workload), w.reader.List(ctx, &deployments)); err != nil {
		return false, fmt.Errorf("reading the parents: %w", err)
	}
	said := len(deployments.Items) == 1 &&
		says(workload.Status.Conditions, computeapi.AvailableCondition, metav1.ConditionFalse, reason)
	for _, d := range deployments.Items {
		said = said && says(d.Status.Conditions, computeapi.AvailableCondition, metav1.ConditionFalse, reason)
	}
	return said, nil
}

func says(conditions []metav1.Condition, conditionType string, status metav1.ConditionStatus, reason string) bool {
	c := computeapi.Condition(conditions, conditionType)
	return c != nil && c.Status == status && c.Reason == reason
}

// both is reached when two states are, in one look.
func both(a, b func(context.Context, *world) (bool, string)) func(context.Context, *world) (bool, string) {
	return func(ctx context.Context, w *world) (bool, string) {
		first, said := a(ctx, w)
		second, alsoSaid := b(ctx, w)
		return first && second, said + ", " + alsoSaid
	}
}
