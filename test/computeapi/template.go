package computeapi

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// InstanceTemplate is what a Workload and its deployments make Instances from.
type InstanceTemplate struct {
	Metadata TemplateMetadata `json:"metadata,omitempty"`
	Spec     InstanceSpec     `json:"spec"`
}

// TemplateMetadata is copied to every Instance of the template.
type TemplateMetadata struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// InstanceSpec is the spec of an Instance, and of a template (section 1.4).
// Location and Controller are set on Instances only.
type InstanceSpec struct {
	Runtime           InstanceRuntime      `json:"runtime"`
	NetworkInterfaces []NetworkInterface   `json:"networkInterfaces,omitempty"`
	Volumes           []Volume             `json:"volumes,omitempty"`
	Location          *LocationReference   `json:"location,omitempty"`
	Controller        *InstanceSpecControl `json:"controller,omitempty"`
}

// InstanceSpecControl is how the deployment controller and the others pass an
// Instance on to each other.
type InstanceSpecControl struct {
	TemplateHash    string           `json:"templateHash"`
	SchedulingGates []SchedulingGate `json:"schedulingGates,omitempty"`
}

// SchedulingGate keeps an Instance from its provider while it stands.
type SchedulingGate struct {
	Name string `json:"name"`
}

// LocationReference names a location.
type LocationReference struct {
	Name string `json:"name"`
}

// InstanceRuntime is exactly one of a sandbox and a virtual machine.
type InstanceRuntime struct {
	Class          string                `json:"class,omitempty"`
	Resources      InstanceResources     `json:"resources,omitzero"`
	Sandbox        *Sandbox              `json:"sandbox,omitempty"`
	VirtualMachine *runtime.RawExtension `json:"virtualMachine,omitempty"`
}

// InstanceResources is the size of an Instance.
type InstanceResources struct {
	InstanceType string `json:"instanceType,omitempty"`
}

// Sandbox is a set of containers that share an Instance.
type Sandbox struct {
	Containers       []Container                   `json:"containers"`
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	Sysctls          []Sysctl                      `json:"sysctls,omitempty"`
}

// Sysctl is one kernel parameter.
type Sysctl struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Container is one container of a sandbox. The raw fields are kept as they
// come: no test looks into them.
type Container struct {
	Name              string                 `json:"name"`
	Image             string                 `json:"image,omitempty"`
	Env               []corev1.EnvVar        `json:"env,omitempty"`
	EnvFrom           []corev1.EnvFromSource `json:"envFrom,omitempty"`
	Ports             []runtime.RawExtension `json:"ports,omitempty"`
	Resources         *runtime.RawExtension  `json:"resources,omitempty"`
	VolumeAttachments []runtime.RawExtension `json:"volumeAttachments,omitempty"`
	SecurityContext   *SecurityContext       `json:"securityContext,omitempty"`
}

// SecurityContext is the part of a container that admission judges.
type SecurityContext struct {
	Capabilities             *Capabilities   `json:"capabilities,omitempty"`
	AllowPrivilegeEscalation *bool           `json:"allowPrivilegeEscalation,omitempty"`
	SeccompProfile           *SeccompProfile `json:"seccompProfile,omitempty"`
}

// Capabilities are Linux capabilities without the CAP_ prefix.
type Capabilities struct {
	Add  []string `json:"add,omitempty"`
	Drop []string `json:"drop,omitempty"`
}

// SeccompProfile is RuntimeDefault or Unconfined.
type SeccompProfile struct {
	Type string `json:"type"`
}

// NetworkInterface attaches an Instance to a network.
type NetworkInterface struct {
	Name    string           `json:"name,omitempty"`
	Network NetworkReference `json:"network"`
}

// NetworkReference names a network of the Workload's namespace.
type NetworkReference struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

// Volume is a volume that containers may attach.
type Volume struct {
	Name      string                        `json:"name"`
	ConfigMap *corev1.ConfigMapVolumeSource `json:"configMap,omitempty"`
	Secret    *corev1.SecretVolumeSource    `json:"secret,omitempty"`
	Disk      *runtime.RawExtension         `json:"disk,omitempty"`
}

// ScaleSettings says how many Instances a placement wants.
type ScaleSettings struct {
	MinReplicas              int32                  `json:"minReplicas"`
	MaxReplicas              *int32                 `json:"maxReplicas,omitempty"`
	Metrics                  []runtime.RawExtension `json:"metrics,omitempty"`
	InstanceManagementPolicy string                 `json:"instanceManagementPolicy,omitempty"`
}

// Placement says where and how often a Workload runs. Exactly one of
// Locations and LocationSelector is set; CityCodes is the older way.
type Placement struct {
	Name             string                `json:"name"`
	Locations        []LocationReference   `json:"locations,omitempty"`
	LocationSelector *metav1.LabelSelector `json:"locationSelector,omitempty"`
	CityCodes        []string              `json:"cityCodes,omitempty"`
	ScaleSettings    ScaleSettings         `json:"scaleSettings"`
}
