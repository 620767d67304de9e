package webhook

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The types below hold only what this package decides on, and none of them may
// ever be written back: every other field is lost when they are decoded.

// Workload is what a customer submits.
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WorkloadSpec `json:"spec,omitempty"`
}

// WorkloadSpec holds the template of the Workload's Instances.
type WorkloadSpec struct {
	Template InstanceTemplate `json:"template,omitempty"`
}

// WorkloadDeployment is the part of a Workload that runs in one location.
type WorkloadDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WorkloadDeploymentSpec `json:"spec,omitempty"`
}

// WorkloadDeploymentSpec holds a copy of the Workload's template and names that
// Workload.
type WorkloadDeploymentSpec struct {
	WorkloadRef WorkloadReference `json:"workloadRef,omitempty"`
	Template    InstanceTemplate  `json:"template,omitempty"`
}

// WorkloadReference names a Workload in the same namespace. Unlike an owner
// reference it survives the copy of a deployment to another control plane.
type WorkloadReference struct {
	Name string    `json:"name,omitempty"`
	UID  types.UID `json:"uid,omitempty"`
}

// InstanceTemplate is the template of an Instance.
type InstanceTemplate struct {
	Spec InstanceSpec `json:"spec,omitempty"`
}

// Instance is one running copy of a Workload.
type Instance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec InstanceSpec `json:"spec,omitempty"`
}

// InstanceSpec says how an Instance runs.
type InstanceSpec struct {
	Runtime Runtime `json:"runtime,omitempty"`
}

// Runtime is the part that is judged: a class and, unless the Instance is a
// virtual machine, a sandbox of containers.
type Runtime struct {
	// Class names a RuntimeClass; empty means the one marked default.
	Class   string   `json:"class,omitempty"`
	Sandbox *Sandbox `json:"sandbox,omitempty"`
}

// Sandbox is a group of containers.
type Sandbox struct {
	Containers []Container `json:"containers,omitempty"`
}

// Container is one container of a sandbox, its name unique in the sandbox.
type Container struct {
	Name            string           `json:"name,omitempty"`
	SecurityContext *SecurityContext `json:"securityContext,omitempty"`
}

// SecurityContext is what a container asks for beyond what its class gives.
type SecurityContext struct {
	Capabilities *Capabilities `json:"capabilities,omitempty"`
}

// Capabilities lists names as the author wrote them. The CRD allows 64 of each,
// of 1 to 64 characters A to Z and _; it lists no names, so ALL and CAP_CHOWN
// arrive here.
type Capabilities struct {
	Add  []string `json:"add,omitempty"`
	Drop []string `json:"drop,omitempty"`
}

// RuntimeClass is a cluster-scoped class of runtime and what it grants.
type RuntimeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RuntimeClassSpec `json:"spec,omitempty"`
}

// RuntimeClassSpec says whether the class is the default and what it grants.
type RuntimeClassSpec struct {
	// Default marks the class of those that name none. At most one class is
	// meant to have it, which no schema can enforce.
	Default                bool                    `json:"default,omitempty"`
	Capabilities           RuntimeCapabilities     `json:"capabilities,omitempty"`
	DefaultSecurityContext *DefaultSecurityContext `json:"defaultSecurityContext,omitempty"`
}

// RuntimeCapabilities lists the features of a class, and the Linux capabilities
// it grants if FeatureContainerCapabilities is among them.
type RuntimeCapabilities struct {
	Features              []string `json:"features,omitempty"`
	GrantableCapabilities []string `json:"grantableCapabilities,omitempty"`
}

// DefaultSecurityContext is what a container gets that states no capabilities.
type DefaultSecurityContext struct {
	Capabilities *Capabilities `json:"capabilities,omitempty"`
}

// FeatureContainerCapabilities is the feature without which a class grants no
// capabilities, whatever it lists.
const FeatureContainerCapabilities = "containerCapabilities"

// WorkloadList is a list of Workloads.
type WorkloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Workload `json:"items"`
}

// WorkloadDeploymentList is a list of WorkloadDeployments.
type WorkloadDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []WorkloadDeployment `json:"items"`
}

// InstanceList is a list of Instances.
type InstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Instance `json:"items"`
}

// RuntimeClassList is a list of RuntimeClasses.
type RuntimeClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []RuntimeClass `json:"items"`
}
