package ledger

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// Instance is what the ledger keeps of one version of an Instance. It is
// immutable once it has been handed to the ledger.
type Instance struct {
	types.NamespacedName
	UID             types.UID
	ResourceVersion string
	// Deployment is the owner reference of kind WorkloadDeployment, or zero.
	Deployment   Parent
	Member       rollup.Member
	Contribution rollup.Contribution
}

// Condition is a condition and its place in the stored list, which a JSON Patch
// needs.
type Condition struct {
	Index int
	metav1.Condition
}

// Value is the condition, nil where there is none.
func (c *Condition) Value() *metav1.Condition {
	if c == nil {
		return nil
	}
	return &c.Condition
}

// Conditions is what is kept of a condition list.
type Conditions struct {
	// Listed tells that the object has the list, be it empty.
	Listed bool
	// Available, ReplicasReady and Degraded are the first of their type, or nil.
	Available, ReplicasReady, Degraded *Condition
}

// Deployment is one version of a WorkloadDeployment. It is immutable once it
// has been handed to the ledger.
type Deployment struct {
	Parent
	ResourceVersion string
	// Workload is the owner, or zero.
	Workload         Parent
	Placement        string
	Deleting, Paused bool
	// Desired is spec.replicas, else minReplicas, 0 while being deleted.
	Desired int32
	// Written tells that the status has its required counts: until then the
	// API server refuses a patch of conditions alone.
	Written                 bool
	Replicas, ReadyReplicas int32
	Conditions              Conditions
}

// Placement is one entry of a Workload's status.placements[], in its place.
type Placement struct {
	Name       string
	Conditions Conditions
}

// Workload is one version of a Workload. It is immutable once it has been
// handed to the ledger.
type Workload struct {
	Parent
	ResourceVersion  string
	Deleting, Paused bool
	// Written: see Deployment.
	Written    bool
	Conditions Conditions
	Placements []Placement
}

// DeploymentView is a deployment and the sum of its Instances at one moment.
type DeploymentView struct {
	*Deployment
	Tally rollup.Tally
}

// Rollup is the roll-up's input from the stored status.
func (v DeploymentView) Rollup() rollup.Deployment {
	return rollup.Deployment{
		Name:          v.Name,
		Placement:     v.Placement,
		Tally:         v.Tally,
		Desired:       v.Desired,
		Replicas:      v.Replicas,
		ReadyReplicas: v.ReadyReplicas,
		Available:     v.Conditions.Available.Value(),
		ReplicasReady: v.Conditions.ReplicasReady.Value(),
	}
}

// WorkloadView is a Workload and its deployments, by name, at one moment.
type WorkloadView struct {
	*Workload
	Deployments []DeploymentView
}

// Rollup is the roll-up's input from the stored status.
func (v WorkloadView) Rollup() rollup.Workload {
	in := rollup.Workload{
		Available:   v.Conditions.Available.Value(),
		Placements:  make([]rollup.Placement, len(v.Placements)),
		Deployments: make([]rollup.Deployment, len(v.Deployments)),
	}
	for i, p := range v.Placements {
		in.Placements[i] = rollup.Placement{Name: p.Name, Available: p.Conditions.Available.Value()}
	}
	for i, d := range v.Deployments {
		in.Deployments[i] = d.Rollup()
	}
	return in
}
