package rollup_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

func ceiling(t *rapid.T) int { return rapid.IntRange(1, 8).Draw(t, "ceiling") }

func TestPropertyInstance(t *testing.T) {
	var met [9]int
	rapid.Check(t, func(t *rapid.T) {
		conditions := drawConditions(t, ceiling(t))
		if rapid.IntRange(0, 9).Draw(t, "ready") == 0 {
			conditions = append([]metav1.Condition{cond("Ready", "True", "Available", "")}, conditions...)
		}
		got := rollup.ReadInstance(false, conditions)
		switch {
		case got.Ready:
			met[0]++
		case got.Reason == "":
			met[1]++
		default:
			met[reason.RankOf(got.Reason)]++
		}
		if got.Reason == "" && got.Message != "" || got.Ready && got.Reason != "" {
			t.Fatalf("%+v says more than it may", got)
		}
		if got.Reason != "" && (!reason.Valid(got.Reason) || reason.Canonical(got.Reason) != got.Reason || reason.RankOf(got.Reason) < reason.Working) {
			t.Fatalf("%q is no canonical failure reason", got.Reason)
		}
		if len(got.Message) > rollup.MaxDetail || got.Message != strings.ToValidUTF8(got.Message, "") ||
			strings.IndexFunc(got.Message, unicode.IsControl) >= 0 || strings.Contains(got.Message, "  ") {
			t.Fatalf("the message %q is not clean", got.Message)
		}
		if got.Message != "" && reason.IsStock(got.Reason, got.Message) {
			t.Fatalf("the message %q is stock", got.Message)
		}
		// Of each type the first counts, and beyond that no order does.
		var first []metav1.Condition
		seen := map[string]bool{}
		for _, c := range conditions {
			if !seen[c.Type] {
				seen[c.Type] = true
				first = append(first, c)
			}
		}
		if again := rollup.ReadInstance(false, rapid.Permutation(first).Draw(t, "permutation")); again != got {
			t.Fatalf("ReadInstance depends on the order of conditions: %+v, then %+v", got, again)
		}
	})
	report := ranks(met)
	report.report(t)
}

func TestPropertyDeployment(t *testing.T) {
	var met ranks
	rapid.Check(t, func(t *rapid.T) {
		d, instances := drawDeployment(t, 0, ceiling(t), rapid.IntRange(0, 3).Draw(t, "may be ready") == 0, false)
		got := rollup.DeploymentAvailable(d)
		replicas := rollup.DeploymentReplicasReady(d, got)
		met.note(got)

		for _, v := range []rollup.Verdict{got, replicas} {
			if fault := storable(v); fault != "" {
				t.Fatalf("the API server would refuse %+v: %s", v, fault)
			}
		}
		if ready := d.Tally.Ready > 0; ready != (got.Status == metav1.ConditionTrue) {
			t.Fatalf("%d Instances are ready, the verdict is %+v", d.Tally.Ready, got)
		}
		shuffled := d
		shuffled.Tally = rollup.Sum(rapid.Permutation(instances).Draw(t, "instances"))
		shuffled.Tally.Failures = rapid.Permutation(shuffled.Tally.Failures).Draw(t, "failures")
		if again := rollup.DeploymentAvailable(shuffled); again != got {
			t.Fatalf("the order of Instances matters: %+v, then %+v", got, again)
		}
		stored := d
		stored.Available = settled(d.Available, got)
		if again := rollup.DeploymentAvailable(stored); again != got {
			t.Fatalf("twice is not once: %+v, then %+v", got, again)
		}
		bestWins(t, got, d.Tally.Failures, baseOf(d.Available, reason.DeploymentBase))
		readBack(t, got, d.Available, d.Tally.Failures, d.Tally.Counted)
	})
	met.report(t)
}

func TestPropertyWorkload(t *testing.T) {
	var met ranks
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkload(t, ceiling(t), rapid.IntRange(0, 3).Draw(t, "may be ready") == 0)
		got, placements := rollup.WorkloadAvailable(w)
		met.note(got)

		for _, v := range append([]rollup.Verdict{got}, placements...) {
			if fault := storable(v); fault != "" {
				t.Fatalf("the API server would refuse %+v: %s", v, fault)
			}
		}
		ready, counted := false, 0
		var failures []rollup.Failure
		bases := baseOf(w.Available, reason.WorkloadBase)
		for _, d := range w.Deployments {
			if d.Carried() {
				ready = ready || d.Available != nil && d.Available.Status == metav1.ConditionTrue
				counted += max(0, int(d.Replicas))
				if d.Available != nil && d.Available.Status == metav1.ConditionFalse && reason.Valid(d.Available.Reason) {
					bases = append(bases, d.Available.Reason)
				}
				continue
			}
			ready = ready || d.Tally.Ready > 0
			bases = append(bases, baseOf(d.Available, reason.DeploymentBase)...)
			counted += d.Tally.Counted
			failures = append(failures, d.Tally.Failures...)
		}
		if ready != (got.Status == metav1.ConditionTrue) && got.Reason != reason.NetworkNotFound {
			t.Fatalf("a deployment is up: %t, the verdict is %+v", ready, got)
		}
		if !ready || got.Reason != reason.NetworkNotFound {
			bestWins(t, got, failures, bases)
		}
		readBack(t, got, w.Available, failures, counted)

		shuffled := w
		shuffled.Deployments = rapid.Permutation(w.Deployments).Draw(t, "deployments")
		if again, p := rollup.WorkloadAvailable(shuffled); again != got || !cmp.Equal(p, placements) {
			t.Fatalf("the order of deployments matters: %+v, then %+v", got, again)
		}
		shuffled.Placements = rapid.Permutation(w.Placements).Draw(t, "placement order")
		again, p := rollup.WorkloadAvailable(shuffled)
		if again != got || !cmp.Equal(byName(shuffled, p), byName(w, placements)) {
			t.Fatalf("the order of placements matters: %+v, then %+v", got, again)
		}

		// Everything is written, then everything is judged again.
		stored := w
		stored.Available = settled(w.Available, got)
		stored.Placements, stored.Deployments = nil, nil
		for i, p := range w.Placements {
			stored.Placements = append(stored.Placements, rollup.Placement{Name: p.Name, Available: settled(p.Available, placements[i])})
		}
		for _, d := range w.Deployments {
			if !d.Carried() {
				d.Available = settled(d.Available, rollup.DeploymentAvailable(d))
			}
			stored.Deployments = append(stored.Deployments, d)
		}
		again, p = rollup.WorkloadAvailable(stored)
		if diff := cmp.Diff(got, again) + cmp.Diff(placements, p); diff != "" {
			t.Fatalf("twice is not once (-once +twice):\n%s", diff)
		}
	})
	met.report(t)
}
