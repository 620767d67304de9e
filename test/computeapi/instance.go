package computeapi

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Instance is one replica of a deployment (section 1.4).
//
// +kubebuilder:object:root=true
type Instance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   InstanceSpec   `json:"spec,omitempty"`
	Status InstanceStatus `json:"status,omitzero"`
}

// InstanceList is a list of Instances.
//
// +kubebuilder:object:root=true
type InstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Instance `json:"items"`
}

// Gates returns the names of the scheduling gates that stand, in their order.
func (i *Instance) Gates() []string {
	if i.Spec.Controller == nil {
		return nil
	}
	var names []string
	for _, gate := range i.Spec.Controller.SchedulingGates {
		names = append(names, gate.Name)
	}
	return names
}

// InstanceStatus is written by four parties (section 3.1). The API server
// itself stamps the first four conditions on a new Instance, so an empty
// status must not be sent at creation: hence omitzero above.
type InstanceStatus struct {
	Conditions        []metav1.Condition       `json:"conditions,omitempty"`
	NetworkInterfaces []NetworkInterfaceStatus `json:"networkInterfaces,omitempty"`
	Controller        *InstanceStatusControl   `json:"controller,omitempty"`
	Suspended         bool                     `json:"suspended,omitempty"`
	DNS               []runtime.RawExtension   `json:"dns,omitempty"`
}

// InstanceStatusControl echoes what the provider runs.
type InstanceStatusControl struct {
	ObservedTemplateHash string `json:"observedTemplateHash,omitempty"`
}

// NetworkInterfaceStatus is the state of one interface.
type NetworkInterfaceStatus struct {
	Name                string                `json:"name,omitempty"`
	NetworkInterfaceRef *LocationReference    `json:"networkInterfaceRef,omitempty"`
	Addresses           []string              `json:"addresses,omitempty"`
	ExternalAddresses   []string              `json:"externalAddresses,omitempty"`
	Assignments         *InterfaceAssignments `json:"assignments,omitempty"`
	Conditions          []metav1.Condition    `json:"conditions,omitempty"`
}

// InterfaceAssignments are the addresses of an interface, the older way.
type InterfaceAssignments struct {
	NetworkIP  string `json:"networkIP,omitempty"`
	ExternalIP string `json:"externalIP,omitempty"`
}
