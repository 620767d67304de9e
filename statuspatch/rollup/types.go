package rollup

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Contribution is all that one Instance adds to the roll-up of its parents.
// It is comparable with ==, so that a status write that changes nothing for
// the parents is told by one comparison.
type Contribution struct {
	// Ready Instances serve; they have no Reason and no Message.
	Ready bool
	// Deleting Instances give no reason and count only while they are ready.
	Deleting bool
	// Reason is the canonical failure reason, or empty for an Instance that is
	// ready, being deleted, or only making progress.
	Reason string
	// Message is the Instance's own text for Reason: cleaned, at most
	// MaxDetail bytes, empty where it is a stock sentence that adds nothing.
	Message string
}

// Counts tells whether the Instance is one of the M of "N of M instances".
func (c Contribution) Counts() bool { return c.Ready || !c.Deleting }

// Member names an Instance in the order in which representatives are chosen:
// lowest ordinal first, then name.
type Member struct {
	// Ordinal is the label compute.datumapis.com/instance-index, or NoOrdinal.
	Ordinal int
	Name    string
}

// Failure is one reason, how many Instances of a tally have it, and the one
// that speaks for them.
type Failure struct {
	Reason         string
	Count          int
	Representative Member
	// Message is the representative's Contribution.Message.
	Message string
}

// Tally is the sum of the contributions of one deployment's Instances. It is a
// value: whoever keeps it up to date (the ledger) hands out copies.
type Tally struct {
	// Seen counts every Instance, those being deleted included.
	Seen int
	// Counted is the M of "N of M instances".
	Counted int
	// Ready counts the Instances that are ready.
	Ready int
	// Failures has one entry for each reason that occurs, in no set order.
	Failures []Failure
	// Lacks are those of the Instances that crash, each once, in no set order;
	// always empty where no hint is asked for.
	Lacks []Lack
}

// Deployment is what the roll-up needs of one WorkloadDeployment: its tally
// and its own status, incoming in the overlay and stored elsewhere.
type Deployment struct {
	Name      string
	Placement string
	Tally     Tally
	// Desired is spec.replicas, else minReplicas, 0 while being deleted.
	Desired int32
	// Replicas and ReadyReplicas are the status counts.
	Replicas, ReadyReplicas int32
	// Available and ReplicasReady are the deployment's conditions of these
	// types, nil where it has none.
	Available, ReplicasReady *metav1.Condition
}

// Placement is one entry of a Workload's status.placements[].
type Placement struct {
	Name      string
	Available *metav1.Condition
}

// Workload is what the roll-up needs of one Workload: its deployments, and its
// own status, incoming in the overlay and stored elsewhere.
type Workload struct {
	Available   *metav1.Condition
	Placements  []Placement
	Deployments []Deployment
}

// Verdict is a condition without its times and type.
type Verdict struct {
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}
