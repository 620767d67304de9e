package statuspatch

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// plan is what one parent's stored status lacks. It is pure: the same view
// gives the same plan, on the path of a request and in the repair loop.
type plan struct {
	resourceVersion string
	// operations is empty where the stored status is right, or not Causeway's
	// to write.
	operations []operation
	// takesDown tells that some Available goes from True to False.
	takesDown bool
	// was and becomes are the reasons of Available, before and after.
	was, becomes string
	// says is what is wrong with the answer where it is no explanation.
	says silence
	// aim is what the conditions will say, to tell a repair that was undone
	// from a new one.
	aim string
}

// cause is why a parent is computed.
type cause string

const (
	causeRequest cause = "request"
	causeRepair  cause = "repair"
	// causeOverlay is for the metrics: the overlay writes into what another
	// writer is about to store, and computes on its own.
	causeOverlay cause = "overlay"
)

// planDeployment compares a deployment's stored conditions with its roll-up.
func planDeployment(v ledger.DeploymentView, why cause, replicasReady, degraded bool, now time.Time) plan {
	p := plan{resourceVersion: v.ResourceVersion}
	if v.Deleting || v.Paused || !v.Written {
		return p
	}
	in := v.Rollup()
	// A carried deployment lives on another plane, or the watch is behind. With
	// no replicas at all there is nothing to be behind of.
	if in.Carried() && (why != causeRepair || v.Replicas != 0) {
		return p
	}
	available := rollup.DeploymentAvailable(in)
	p.says = silenceOf(available.Status, available.Reason)
	const at = "/status/conditions"
	p.was, p.becomes = availabilityOf(v.Conditions.Available).reason, available.Reason
	p.want(at, v.Conditions.Listed, v.Conditions.Available, conditionAvailable, available, now)
	if replicasReady && v.Conditions.ReplicasReady != nil && !in.Carried() {
		p.want(at, true, v.Conditions.ReplicasReady, conditionReplicasReady, rollup.DeploymentReplicasReady(in, available), now)
	}
	p.wantDegraded(degraded, v.Conditions, rollup.DeploymentDegraded(in, available), now)
	return p
}

// planWorkload compares a Workload's stored conditions, and those of its
// placements, with their roll-up.
func planWorkload(v ledger.WorkloadView, degraded bool, now time.Time) plan {
	p := plan{resourceVersion: v.ResourceVersion}
	if v.Deleting || v.Paused || !v.Written {
		return p
	}
	in := v.Rollup()
	available, placements := rollup.WorkloadAvailable(in)
	p.says = silenceOf(available.Status, available.Reason)
	p.was, p.becomes = availabilityOf(v.Conditions.Available).reason, available.Reason
	p.want("/status/conditions", v.Conditions.Listed, v.Conditions.Available, conditionAvailable, available, now)
	for i, placement := range v.Placements {
		at := "/status/placements/" + strconv.Itoa(i) + "/conditions"
		p.want(at, placement.Conditions.Listed, placement.Conditions.Available, conditionAvailable, placements[i], now)
	}
	p.wantDegraded(degraded, v.Conditions, rollup.WorkloadDegraded(in, available), now)
	return p
}

// want adds to the plan what makes the condition of this type say the verdict.
func (p *plan) want(at string, listed bool, have *ledger.Condition, conditionType string, verdict rollup.Verdict, now time.Time) {
	p.aim += string(verdict.Status) + "\x00" + verdict.Reason + "\x00" + verdict.Message + "\x00"
	want := rollup.Settle(have.Value(), nil, conditionType, verdict, now)
	switch {
	case have == nil:
		p.operations = append(p.operations, addCondition(at, listed, want))
	case !rollup.Same(have.Value(), want):
		p.operations = append(p.operations, setCondition(at, have, want)...)
	}
	if conditionType == conditionAvailable && have != nil &&
		have.Status == metav1.ConditionTrue && want.Status == metav1.ConditionFalse {
		p.takesDown = true
	}
}

// silenceOf tells how an answer fails to say why something is not available;
// empty for one that does say.
func silenceOf(status metav1.ConditionStatus, said string) silence {
	if status != metav1.ConditionFalse {
		return ""
	}
	switch reason.RankOf(said) {
	case reason.Default:
		return silentDefault
	case reason.Unknown:
		return silentUnknown
	default:
		return ""
	}
}
