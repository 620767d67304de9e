// Command memory states how much memory both processes of Causeway take beside
// many Instances: after their caches have synced, and after a time of churn. It
// runs a control plane of its own; creating the objects is what takes long.
//
//	go run ./bench/memory -instances 100000 -deployments 5000 -churn 10m
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

// perNamespace is how many deployments share a namespace.
const perNamespace = 100

type options struct {
	instances, deployments, writers int
	churn                           time.Duration
}

func main() {
	var o options
	flag.IntVar(&o.instances, "instances", 100_000, "how many Instances there are")
	flag.IntVar(&o.deployments, "deployments", 5_000, "how many deployments they are spread over; each has a Workload")
	flag.IntVar(&o.writers, "writers", 32, "how many clients create and write at the same time")
	flag.DurationVar(&o.churn, "churn", 10*time.Minute, "how long Instances change")
	flag.Parse()
	crlog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	if o.deployments < 1 || o.instances < o.deployments || o.writers < 1 {
		return errors.New("there must be a writer, a deployment and an Instance for each deployment")
	}
	dir, err := os.MkdirTemp("", "causeway-memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := environment.Binary(ctx, dir, false)
	if err != nil {
		return err
	}
	e, err := environment.Start(ctx, environment.Options{Binary: binary, DeployOverlay: "default", Without: []string{environment.Refusal, environment.Status, environment.Overlay}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	b := &bench{options: o, Environment: e}
	for range o.writers {
		writer, err := e.Client(environment.Writer)
		if err != nil {
			return err
		}
		b.clients = append(b.clients, writer)
	}
	began := time.Now()
	if err := b.create(ctx); err != nil {
		return err
	}
	fmt.Printf("%d Instances in %d deployments, created in %s\n", o.instances, o.deployments, time.Since(began).Round(time.Second))

	// The processes start beside what is there already, as after an upgrade, and
	// with the webhooks in force.
	if err := e.Install(ctx, "default", 1, 1); err != nil {
		return err
	}
	if err := b.settled(ctx); err != nil {
		return err
	}
	if err := b.report(ctx, "after sync"); err != nil {
		return err
	}
	writes, err := b.churnFor(ctx)
	if err != nil {
		return err
	}
	return b.report(ctx, fmt.Sprintf("after %s of churn, %d writes", o.churn, writes))
}

type bench struct {
	options
	*environment.Environment
	clients []client.WithWatch
}

func namespaceOf(deployment int) string { return "customer-" + strconv.Itoa(deployment/perNamespace) }

func deploymentName(deployment int) string {
	return "workload-of-some-name-" + strconv.Itoa(deployment) + "-0123456789"
}

func (b *bench) instanceName(n int) types.NamespacedName {
	d := n % b.deployments
	return types.NamespacedName{Namespace: namespaceOf(d), Name: deploymentName(d) + "-" + strconv.Itoa(n/b.deployments)}
}

// each has all clients work off the numbers below count.
func (b *bench) each(ctx context.Context, count int, do func(ctx context.Context, c client.Client, n int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for _, c := range b.clients {
		group.Go(func() {
			for {
				n := int(next.Add(1) - 1)
				if n >= count || ctx.Err() != nil {
					return
				}
				if err := do(ctx, c, n); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

func (b *bench) create(ctx context.Context) error {
	for n := 0; n < b.deployments; n += perNamespace {
		if err := b.CreateNamespace(ctx, namespaceOf(n)); err != nil {
			return err
		}
	}
	yes := true
	uids := make([]types.UID, b.deployments)
	err := b.each(ctx, b.deployments, func(ctx context.Context, c client.Client, n int) error {
		replicas := b.replicas(n)
		w := computeapi.NewWorkload(namespaceOf(n), "workload-"+strconv.Itoa(n), computeapi.WithPlacement("main", replicas, "us"))
		if err := c.Create(ctx, w); err != nil {
			return err
		}
		w.Status = computeapi.WorkloadStatus{Deployments: 1, Replicas: replicas}
		if err := c.Status().Update(ctx, w); err != nil {
			return err
		}
		d := &computeapi.WorkloadDeployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: deploymentName(n), OwnerReferences: []metav1.OwnerReference{{
				APIVersion: computeapi.GroupVersion.String(), Kind: "Workload", Name: w.Name, UID: w.UID, Controller: &yes,
			}}},
			Spec: computeapi.WorkloadDeploymentSpec{
				WorkloadRef: computeapi.WorkloadReference{Name: w.Name, UID: w.UID}, PlacementName: "main",
				LocationRef: &computeapi.LocationReference{Name: "us"}, Template: w.Spec.Template, ScaleSettings: w.Spec.Placements[0].ScaleSettings,
			},
		}
		if err := c.Create(ctx, d); err != nil {
			return err
		}
		uids[n] = d.UID
		d.Status = computeapi.WorkloadDeploymentStatus{Replicas: replicas}
		return c.Status().Update(ctx, d)
	})
	if err != nil {
		return err
	}
	spec := computeapi.NewWorkload("", "").Spec.Template.Spec
	return b.each(ctx, b.instances, func(ctx context.Context, c client.Client, n int) error {
		name, d := b.instanceName(n), n%b.deployments
		return c.Create(ctx, &computeapi.Instance{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: name.Namespace, Name: name.Name,
				Labels: map[string]string{computeapi.InstanceIndexLabel: strconv.Itoa(n / b.deployments), computeapi.PlacementNameLabel: "main"},
				OwnerReferences: []metav1.OwnerReference{{
					APIVersion: computeapi.GroupVersion.String(), Kind: "WorkloadDeployment", Name: deploymentName(d), UID: uids[d], Controller: &yes,
				}},
			},
			Spec: spec,
		})
	})
}

// replicas is how many Instances a deployment has.
func (b *bench) replicas(deployment int) int32 {
	return int32((b.instances - deployment + b.deployments - 1) / b.deployments)
}

// write has an Instance fail with a text of its own, or be ready.
func (b *bench) write(ctx context.Context, c client.Client, n int, fails bool) error {
	status, reason, message := metav1.ConditionTrue, "Available", "Instance is ready"
	if fails {
		status, reason, message = metav1.ConditionFalse, "InstanceCrashing", fmt.Sprintf("Container %q keeps exiting (last exit code %d); restarting", "app", n)
	}
	conditions := make([]metav1.Condition, 0, 3)
	for _, conditionType := range []string{computeapi.ProgrammedCondition, computeapi.AvailableCondition, computeapi.ReadyCondition} {
		conditions = append(conditions, metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.Now()})
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions}})
	if err != nil {
		return err
	}
	name := b.instanceName(n)
	i := &computeapi.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	return c.Status().Patch(ctx, i, client.RawPatch(types.MergePatchType, patch))
}

func (b *bench) churnFor(ctx context.Context) (int64, error) {
	ends := time.Now().Add(b.churn)
	var writes atomic.Int64
	for round := 0; time.Now().Before(ends); round++ {
		err := b.each(ctx, b.instances, func(ctx context.Context, c client.Client, n int) error {
			if time.Now().After(ends) {
				return nil
			}
			writes.Add(1)
			return b.write(ctx, c, n, (n+round)%2 == 0)
		})
		if err != nil {
			return 0, err
		}
	}
	return writes.Load(), nil
}

// settled returns when statuspatch has no parent left to repair.
func (b *bench) settled(ctx context.Context) error {
	return environment.WaitFor(ctx, "every parent to have been written", func() (bool, string) {
		text, err := b.Sidecars[0].Metrics(ctx)
		written := valueOf(text, `causeway_status_parent_writes_total{cause="repair",kind="Workload"}`)
		return err == nil && int(written) >= b.deployments, fmt.Sprintf("%v Workloads written", written)
	})
}

func (b *bench) report(ctx context.Context, when string) error {
	for name, processes := range map[string][]*environment.Process{"statuspatch": b.Sidecars, "webhook": b.Webhooks} {
		text, err := processes[0].Metrics(ctx)
		if err != nil {
			return err
		}
		const mebi = 1 << 20
		fmt.Printf("%s: %s: resident %.0f MiB, heap in use %.0f MiB, %.0f goroutines\n", when, name,
			valueOf(text, "process_resident_memory_bytes")/mebi, valueOf(text, "go_memstats_heap_inuse_bytes")/mebi, valueOf(text, "go_goroutines"))
	}
	return nil
}

func valueOf(text, series string) float64 {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			if v, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
				return v
			}
		}
	}
	return 0
}
