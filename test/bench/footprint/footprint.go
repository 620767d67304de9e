package footprint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

// perNamespace is how many deployments share a namespace.
const perNamespace = 100

// Options say beside what memory is measured. All are required.
type Options struct {
	// Binary is causeway, built without the race detector.
	Binary string
	// Instances is how many there are, spread over Deployments, each of which has a
	// Workload.
	Instances, Deployments int
	// Writers is how many clients create and write at the same time.
	Writers int
	// Churn is how long Instances change.
	Churn time.Duration
}

// Moment is what both processes take at one time.
type Moment struct {
	// When says at which.
	When                 string
	Statuspatch, Webhook Process
}

// Process is what one process takes, in bytes.
type Process struct{ Resident, HeapInUse, Goroutines float64 }

// Measure runs a control plane of its own and tells what the processes take after
// their caches have synced and after the churn. say hears what is going on.
func Measure(ctx context.Context, o Options, say func(format string, args ...any)) (_ []Moment, err error) {
	if o.Deployments < 1 || o.Instances < o.Deployments || o.Writers < 1 {
		return nil, errors.New("there must be a writer, a deployment and an Instance for each deployment")
	}
	without := []string{environment.Refusal, environment.Status, environment.Overlay}
	e, err := environment.Start(ctx, environment.Options{Binary: o.Binary, DeployOverlay: "default", Without: without})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	b := &bench{Options: o, Environment: e}
	for range o.Writers {
		writer, err := e.Client(environment.Writer)
		if err != nil {
			return nil, err
		}
		b.clients = append(b.clients, writer)
	}
	began := time.Now()
	if err := b.create(ctx); err != nil {
		return nil, err
	}
	say("%d Instances in %d deployments, created in %s", o.Instances, o.Deployments, time.Since(began).Round(time.Second))

	// The processes start beside what is there already, as after an upgrade, and
	// with the webhooks in force.
	if err := e.Install(ctx, "default", 1, 1); err != nil {
		return nil, err
	}
	if err := b.settled(ctx); err != nil {
		return nil, err
	}
	synced, err := b.look(ctx, "after sync")
	if err != nil {
		return nil, err
	}
	say("every parent written")
	kept, stop := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() { b.keep(kept, say) })
	writes, err := b.churn(ctx)
	stop()
	keeping.Wait()
	if err != nil {
		return nil, err
	}
	churned, err := b.look(ctx, fmt.Sprintf("after %s of churn, %d writes", o.Churn, writes))
	return []Moment{synced, churned}, err
}

type bench struct {
	Options
	*environment.Environment
	clients []client.WithWatch
}

func namespaceOf(deployment int) string { return "customer-" + strconv.Itoa(deployment/perNamespace) }

func deploymentName(deployment int) string {
	return "workload-of-some-name-" + strconv.Itoa(deployment) + "-0123456789"
}

func (b *bench) instanceName(n int) types.NamespacedName {
	d := n % b.Deployments
	return types.NamespacedName{Namespace: namespaceOf(d), Name: deploymentName(d) + "-" + strconv.Itoa(n/b.Deployments)}
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
	for n := 0; n < b.Deployments; n += perNamespace {
		if err := b.CreateNamespace(ctx, namespaceOf(n)); err != nil {
			return err
		}
	}
	yes := true
	uids := make([]types.UID, b.Deployments)
	err := b.each(ctx, b.Deployments, func(ctx context.Context, c client.Client, n int) error {
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
	return b.each(ctx, b.Instances, func(ctx context.Context, c client.Client, n int) error {
		name, d := b.instanceName(n), n%b.Deployments
		return c.Create(ctx, &computeapi.Instance{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: name.Namespace, Name: name.Name,
				Labels: map[string]string{computeapi.InstanceIndexLabel: strconv.Itoa(n / b.Deployments), computeapi.PlacementNameLabel: "main"},
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
	return int32((b.Instances - deployment + b.Deployments - 1) / b.Deployments)
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

// keep starts a process that has ended again, as a kubelet does: on a busy machine
// statuspatch may lose its lease, and half an hour would have been in vain.
func (b *bench) keep(ctx context.Context, say func(format string, args ...any)) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		ended, err := b.Revive(ctx)
		for _, p := range ended {
			say("%s ended during the churn, and what it took is that of the one started in its place: %s", p.Name, p.LastWords())
		}
		if err != nil && ctx.Err() == nil {
			say("starting a process again: %v", err)
		}
	}
}

func (b *bench) churn(ctx context.Context) (int64, error) {
	ends := time.Now().Add(b.Churn)
	var writes atomic.Int64
	for round := 0; time.Now().Before(ends); round++ {
		err := b.each(ctx, b.Instances, func(ctx context.Context, c client.Client, n int) error {
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
		return err == nil && int(written) >= b.Deployments, fmt.Sprintf("%v Workloads written", written)
	})
}

// look tells what both processes take now.
func (b *bench) look(ctx context.Context, when string) (Moment, error) {
	m := Moment{When: when}
	for into, p := range map[*Process]*environment.Process{&m.Statuspatch: b.Sidecars[0], &m.Webhook: b.Webhooks[0]} {
		text, err := p.Metrics(ctx)
		if err != nil {
			return m, err
		}
		*into = Process{
			Resident:   valueOf(text, "process_resident_memory_bytes"),
			HeapInUse:  valueOf(text, "go_memstats_heap_inuse_bytes"),
			Goroutines: valueOf(text, "go_goroutines"),
		}
	}
	return m, nil
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
