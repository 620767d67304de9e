package computeapi

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RuntimeClass says what a class of Instances can do (section 1.1).
//
// +kubebuilder:object:root=true
type RuntimeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RuntimeClassSpec   `json:"spec,omitempty"`
	Status RuntimeClassStatus `json:"status,omitempty"`
}

// RuntimeClassList is a list of RuntimeClasses.
//
// +kubebuilder:object:root=true
type RuntimeClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []RuntimeClass `json:"items"`
}

// RuntimeClassSpec is a class as its operator publishes it.
type RuntimeClassSpec struct {
	ControllerName         string                   `json:"controllerName"`
	DisplayName            string                   `json:"displayName,omitempty"`
	Description            string                   `json:"description,omitempty"`
	Default                bool                     `json:"default,omitempty"`
	Isolation              *RuntimeClassIsolation   `json:"isolation,omitempty"`
	Capabilities           RuntimeClassCapabilities `json:"capabilities"`
	DefaultSecurityContext *ClassSecurityContext    `json:"defaultSecurityContext,omitempty"`
	NetworkAttachment      string                   `json:"networkAttachment,omitempty"`
}

// RuntimeClassIsolation names the boundary around an Instance.
type RuntimeClassIsolation struct {
	Boundary    string `json:"boundary"`
	Description string `json:"description,omitempty"`
}

// Features of a class that these tests name.
const (
	FeatureSandboxRuntime        = "sandboxRuntime"
	FeatureContainerCapabilities = "containerCapabilities"
)

// RuntimeClassCapabilities is what a class offers.
type RuntimeClassCapabilities struct {
	Features              []string          `json:"features,omitempty"`
	GrantableCapabilities []string          `json:"grantableCapabilities,omitempty"`
	SupportedSysctls      []SupportedSysctl `json:"supportedSysctls,omitempty"`
	Compatibility         string            `json:"compatibility,omitempty"`
}

// SupportedSysctl is one sysctl that containers of a class may set.
type SupportedSysctl struct {
	Name          string   `json:"name"`
	AllowedValues []string `json:"allowedValues,omitempty"`
}

// ClassSecurityContext is what admission stamps on containers that say nothing.
type ClassSecurityContext struct {
	Capabilities             *ClassCapabilities `json:"capabilities,omitempty"`
	AllowPrivilegeEscalation *bool              `json:"allowPrivilegeEscalation,omitempty"`
	SeccompProfile           *SeccompProfile    `json:"seccompProfile,omitempty"`
}

// ClassCapabilities are the capabilities a class adds by default.
type ClassCapabilities struct {
	Add []string `json:"add,omitempty"`
}

// RuntimeClassStatus is written by the controller the class names, if any.
type RuntimeClassStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
