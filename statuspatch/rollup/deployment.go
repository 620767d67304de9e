package rollup

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// Carried tells whether the deployment's status says more than its Instances
// seen here can: it counts more of them, or none is seen at all. Such a
// deployment lives on another plane, or the cache is behind.
func (d Deployment) Carried() bool {
	return d.Tally.Seen == 0 || int(d.Replicas) > d.Tally.Seen
}

// DeploymentAvailable is the verdict on the condition Available of a
// deployment, from its tally and its base. Whether a carried deployment is
// judged at all is the caller's choice; where no Instance is seen, the verdict
// is the base or the default.
//
// A ready Instance makes it True whatever the base says.
func DeploymentAvailable(d Deployment) Verdict {
	ranked := merge(d.Tally.Failures)
	if d.Tally.Ready > 0 {
		return Verdict{metav1.ConditionTrue, reason.StableInstanceFound,
			serving(d.Tally.Ready, d.Tally.Counted, ranked)}
	}
	if b := findBase(d.Available, reason.DeploymentBase); b.leads(ranked) {
		return b.verdict()
	}
	return down(ranked, d.Tally.Counted, d.Tally.Seen)
}

// DeploymentReplicasReady is the verdict on the condition ReplicasReady of a
// deployment, where available is the one on its Available. Instances that wait
// for quota are told first, then those that wait for data, both in the
// platform's reasons and words; else it is whether the desired number is ready.
func DeploymentReplicasReady(d Deployment, available Verdict) Verdict {
	ranked := merge(d.Tally.Failures)
	quota, data := 0, 0
	for _, f := range ranked {
		switch {
		case f.Reason == reason.QuotaNotGranted:
			quota += f.Count
		case reason.RankOf(f.Reason) == reason.Data:
			data += f.Count
		}
	}
	ready, desired := strconv.Itoa(d.Tally.Ready), strconv.Itoa(int(d.Desired))
	replicas := ready + "/" + desired + " replicas available"
	switch {
	case quota > 0:
		return Verdict{metav1.ConditionFalse, reason.QuotaExceeded,
			strconv.Itoa(quota) + " of " + desired + " desired replicas are pending quota"}
	case data > 0:
		return Verdict{metav1.ConditionFalse, reason.AwaitingPropagation,
			strconv.Itoa(data) + " of " + desired + " desired replicas are waiting for referenced data companions"}
	case d.Tally.Ready >= int(d.Desired):
		return Verdict{metav1.ConditionTrue, reason.ReplicasAvailable, replicas}
	case available.Status == metav1.ConditionFalse:
		return Verdict{metav1.ConditionFalse, available.Reason, replicas}
	case len(ranked) > 0:
		return Verdict{metav1.ConditionFalse, ranked[0].Reason, replicas}
	default:
		return Verdict{metav1.ConditionFalse, reason.InstancesProvisioning, replicas}
	}
}
