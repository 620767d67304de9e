package computeapi

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Workload is what a customer applies (section 1.2).
//
// +kubebuilder:object:root=true
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WorkloadSpec   `json:"spec,omitempty"`
	Status WorkloadStatus `json:"status,omitzero"`
}

// WorkloadList is a list of Workloads.
//
// +kubebuilder:object:root=true
type WorkloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Workload `json:"items"`
}

// WorkloadSpec is a template and where it runs.
type WorkloadSpec struct {
	Template   InstanceTemplate `json:"template"`
	Placements []Placement      `json:"placements"`
}

// WorkloadStatus has its counts without omitempty: the API requires them, so
// a status is written whole or not at all.
type WorkloadStatus struct {
	Conditions         []metav1.Condition    `json:"conditions,omitempty"`
	Deployments        int32                 `json:"deployments"`
	Replicas           int32                 `json:"replicas"`
	CurrentReplicas    int32                 `json:"currentReplicas"`
	UpdatedReplicas    int32                 `json:"updatedReplicas"`
	DesiredReplicas    int32                 `json:"desiredReplicas"`
	ReadyReplicas      int32                 `json:"readyReplicas"`
	ObservedGeneration int64                 `json:"observedGeneration,omitempty"`
	Placements         []PlacementStatus     `json:"placements,omitempty"`
	Gateway            *runtime.RawExtension `json:"gateway,omitempty"`
}

// PlacementStatus is a Workload's state in one placement.
type PlacementStatus struct {
	Name            string              `json:"name"`
	Locations       []LocationReference `json:"locations,omitempty"`
	Conditions      []metav1.Condition  `json:"conditions,omitempty"`
	Replicas        int32               `json:"replicas"`
	CurrentReplicas int32               `json:"currentReplicas"`
	UpdatedReplicas int32               `json:"updatedReplicas"`
	DesiredReplicas int32               `json:"desiredReplicas"`
	ReadyReplicas   int32               `json:"readyReplicas"`
}
