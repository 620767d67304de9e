package computeapi

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// WorkloadDeployment is a Workload's placement at one location (section 1.3).
//
// +kubebuilder:object:root=true
type WorkloadDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WorkloadDeploymentSpec   `json:"spec,omitempty"`
	Status WorkloadDeploymentStatus `json:"status,omitzero"`
}

// WorkloadDeploymentList is a list of WorkloadDeployments.
//
// +kubebuilder:object:root=true
type WorkloadDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []WorkloadDeployment `json:"items"`
}

// WorkloadDeploymentSpec is copied from the Workload, save Replicas, which the
// scale subresource sets.
type WorkloadDeploymentSpec struct {
	WorkloadRef       WorkloadReference  `json:"workloadRef"`
	PlacementName     string             `json:"placementName"`
	LocationRef       *LocationReference `json:"locationRef,omitempty"`
	CityCode          string             `json:"cityCode,omitempty"`
	Template          InstanceTemplate   `json:"template"`
	ScaleSettings     ScaleSettings      `json:"scaleSettings"`
	Replicas          *int32             `json:"replicas,omitempty"`
	NetworkAttachment string             `json:"networkAttachment,omitempty"`
}

// WorkloadReference is the one link to a Workload that holds on every plane.
type WorkloadReference struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

// DesiredReplicas is spec.replicas, else minReplicas, and 0 while the
// deployment is being deleted (section 4).
func (d *WorkloadDeployment) DesiredReplicas() int32 {
	switch {
	case !d.DeletionTimestamp.IsZero():
		return 0
	case d.Spec.Replicas != nil:
		return *d.Spec.Replicas
	default:
		return d.Spec.ScaleSettings.MinReplicas
	}
}

// WorkloadDeploymentStatus has required counts, like WorkloadStatus.
type WorkloadDeploymentStatus struct {
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	Replicas           int32              `json:"replicas"`
	CurrentReplicas    int32              `json:"currentReplicas"`
	UpdatedReplicas    int32              `json:"updatedReplicas"`
	DesiredReplicas    int32              `json:"desiredReplicas"`
	ReadyReplicas      int32              `json:"readyReplicas"`
	Selector           string             `json:"selector,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Suspended          bool               `json:"suspended,omitempty"`
	Location           *LocationReference `json:"location,omitempty"`
}
