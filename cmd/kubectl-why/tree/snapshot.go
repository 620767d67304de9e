package tree

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Snapshot is what was read, of one namespace or of all.
type Snapshot struct {
	Workloads   []Workload
	Deployments []Deployment
	Instances   []Instance
	// NoDeployments and NoInstances say why these could not be read; empty if
	// they could.
	NoDeployments, NoInstances string
}

// Workload is what an explanation needs of a Workload.
type Workload struct {
	Namespace, Name         string
	UID                     types.UID
	Deleting                bool
	Replicas, ReadyReplicas int32
	Conditions              []metav1.Condition
	Placements              []Placement
}

// Placement is one entry of a Workload's status.placements[].
type Placement struct {
	Name                    string
	Replicas, ReadyReplicas int32
	Conditions              []metav1.Condition
}

// Deployment is what an explanation needs of a WorkloadDeployment.
type Deployment struct {
	Name string
	UID  types.UID
	// Workload is the owner's UID.
	Workload            types.UID
	Placement, Location string
	Deleting            bool
	// Desired is spec.replicas, else minReplicas, 0 while being deleted.
	Desired                 int32
	Replicas, ReadyReplicas int32
	Conditions              []metav1.Condition
}

// Instance is what an explanation needs of an Instance.
type Instance struct {
	Name string
	// Deployment is the owner's UID.
	Deployment types.UID
	// Ordinal is the instance's index, or rollup.NoOrdinal.
	Ordinal    int
	Deleting   bool
	Conditions []metav1.Condition
}

const (
	typeAvailable = "Available"
	typeReady     = "Ready"
)

// condition is the first of a type, nil where there is none.
func condition(list []metav1.Condition, conditionType string) *metav1.Condition {
	for i := range list {
		if list[i].Type == conditionType {
			return &list[i]
		}
	}
	return nil
}
