package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
	"github.com/causeway-webhook/causeway/test/computeapi"
)

// view is what a customer sees of a namespace, and what the parents in it have
// to say: the pure function of the Instances that exist and of what the parent
// itself says. It shares the roll-up with Causeway and nothing of the ledger,
// the watches, the writer or the overlay.
type view struct {
	workloads   []computeapi.Workload
	deployments []computeapi.WorkloadDeployment
	instances   []computeapi.Instance
}

// look reads everything live. The three lists are of one moment only while
// nobody writes.
func (s *scene) look() *view {
	s.t.Helper()
	var workloads computeapi.WorkloadList
	var deployments computeapi.WorkloadDeploymentList
	var instances computeapi.InstanceList
	for _, list := range []client.ObjectList{&workloads, &deployments, &instances} {
		require.NoError(s.t, s.customer.List(s.ctx, list, client.InNamespace(namespace)))
	}
	return &view{workloads.Items, deployments.Items, instances.Items}
}

// versions tell whether anything moved between two views.
func (v *view) versions() string {
	var b strings.Builder
	for _, o := range v.objects() {
		fmt.Fprintf(&b, "%s %s\n", o.GetUID(), o.GetResourceVersion())
	}
	return b.String()
}

func (v *view) objects() []client.Object {
	var all []client.Object
	for i := range v.workloads {
		all = append(all, &v.workloads[i])
	}
	for i := range v.deployments {
		all = append(all, &v.deployments[i])
	}
	for i := range v.instances {
		all = append(all, &v.instances[i])
	}
	return all
}

// tally sums up the Instances whose owner is the deployment of this UID.
func (v *view) tally(deployment types.UID) rollup.Tally {
	var members []rollup.Instance
	for i := range v.instances {
		instance := &v.instances[i]
		owned := slices.ContainsFunc(instance.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == deployment })
		if !owned {
			continue
		}
		ordinal, err := strconv.Atoi(instance.Labels[computeapi.InstanceIndexLabel])
		if err != nil {
			ordinal = rollup.NoOrdinal
		}
		members = append(members, rollup.Instance{
			Member:       rollup.Member{Ordinal: ordinal, Name: instance.Name},
			Contribution: rollup.ReadInstance(!instance.DeletionTimestamp.IsZero(), instance.Status.Conditions),
		})
	}
	return rollup.Sum(members)
}

// deployment is the roll-up's input for one deployment.
func (v *view) deployment(d *computeapi.WorkloadDeployment) rollup.Deployment {
	return rollup.Deployment{
		Name: d.Name, Placement: d.Spec.PlacementName, Tally: v.tally(d.UID), Desired: d.DesiredReplicas(),
		Replicas: d.Status.Replicas, ReadyReplicas: d.Status.ReadyReplicas,
		Available:     computeapi.Condition(d.Status.Conditions, computeapi.AvailableCondition),
		ReplicasReady: computeapi.Condition(d.Status.Conditions, computeapi.ReplicasReadyCondition),
	}
}

// workload is the roll-up's input for one Workload.
func (v *view) workload(w *computeapi.Workload) rollup.Workload {
	in := rollup.Workload{Available: computeapi.Condition(w.Status.Conditions, computeapi.AvailableCondition)}
	for _, p := range w.Status.Placements {
		in.Placements = append(in.Placements, rollup.Placement{
			Name: p.Name, Available: computeapi.Condition(p.Conditions, computeapi.AvailableCondition),
		})
	}
	for i := range v.deployments {
		if v.deployments[i].Spec.WorkloadRef.UID == w.UID {
			in.Deployments = append(in.Deployments, v.deployment(&v.deployments[i]))
		}
	}
	return in
}

// wrong says which parents do not say what they have to.
func (v *view) wrong() []string {
	var found []string
	compare := func(what string, conditions []metav1.Condition, conditionType string, want rollup.Verdict) {
		if got := saysOf(conditions, conditionType); got != said(want) {
			found = append(found, fmt.Sprintf("%s\n  says        %+v\n  has to say  %+v", what, got, want))
		}
	}
	for i := range v.deployments {
		d := &v.deployments[i]
		in := v.deployment(d)
		if !mine(d, d.Status.Conditions) || in.Carried() && d.Status.Replicas != 0 {
			continue
		}
		available := rollup.DeploymentAvailable(in)
		compare("deployment "+d.Name, d.Status.Conditions, computeapi.AvailableCondition, available)
		if in.ReplicasReady != nil && !in.Carried() {
			compare("deployment "+d.Name, d.Status.Conditions, computeapi.ReplicasReadyCondition,
				rollup.DeploymentReplicasReady(in, available))
		}
	}
	for i := range v.workloads {
		w := &v.workloads[i]
		if !mine(w, w.Status.Conditions) {
			continue
		}
		available, placements := rollup.WorkloadAvailable(v.workload(w))
		compare("workload "+w.Name, w.Status.Conditions, computeapi.AvailableCondition, available)
		for i, p := range w.Status.Placements {
			compare("placement "+p.Name+" of workload "+w.Name, p.Conditions, computeapi.AvailableCondition, placements[i])
		}
	}
	return found
}

// mine tells whether Causeway has the parent's conditions to keep: it is not
// paused, not being deleted, and its status was written once.
func mine(o client.Object, conditions []metav1.Condition) bool {
	_, paused := o.GetAnnotations()["causeway.dev/paused"]
	return !paused && o.GetDeletionTimestamp().IsZero() && len(conditions) > 0
}

// stillness is for how long nothing may move until the platform is at rest.
const stillness = 300 * time.Millisecond

// atRest waits until nothing moves any more and every parent says what it has
// to, and returns what there is to see then.
func (s *scene) atRest(limit time.Duration) (rest *view) {
	s.t.Helper()
	var last, seen string
	var looked time.Time
	since, began := time.Now(), time.Now()
	s.waitFor("everything to be at rest and every parent to tell the truth", func() (bool, string) {
		if time.Since(looked) < stillness/3 {
			return false, seen // looking costs those who work here a good deal
		}
		s.keepRunning()
		now := s.look()
		looked = time.Now()
		if versions := now.versions(); versions != last {
			last, since = versions, time.Now()
		}
		wrong := now.wrong()
		rest, seen = now, strings.Join(wrong, "\n")
		require.Less(s.t, time.Since(began), limit, "it did not come to rest:\n%s", seen)
		return len(wrong) == 0 && time.Since(since) > stillness, seen
	})
	return rest
}

// keepRunning starts processes where the last one has lost its lease, as a
// kubelet would: an API server that a busy machine starves for two seconds costs
// it that. Whatever else ends one fails the test.
func (s *scene) keepRunning() {
	s.t.Helper()
	for _, p := range s.Sidecars {
		if !p.Ended() {
			return
		}
	}
	ended, err := s.Revive(s.ctx)
	for _, p := range ended {
		require.NotContains(s.t, p.Log(), "DATA RACE", p.Name)
		require.Contains(s.t, p.Log(), "the lease was lost", p.Name)
		s.t.Logf("%s has ended and is started again; its last words: %s", p.Name, p.LastWords())
	}
	if err != nil { // with all that the new one said: it may have been starved, too
		require.NotContains(s.t, err.Error(), "DATA RACE")
		require.ErrorContains(s.t, err, "the lease was lost")
	}
}

// in runs a subtest with a scene of its own name in the same world.
func (s *scene) in(name string, test func(*scene)) {
	s.t.Run(name, func(t *testing.T) {
		sub := *s
		sub.t = t
		test(&sub)
	})
}

// valueOf is the value of one series of a process's metrics.
func valueOf(t *testing.T, metrics, series string) float64 {
	t.Helper()
	for line := range strings.Lines(metrics) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			require.NoError(t, err)
			return n
		}
	}
	require.Fail(t, "no such metric", series)
	return 0
}
