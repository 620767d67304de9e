package computeapi

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A RuntimeClassTweak changes one thing of a minimal valid RuntimeClass.
//
// +kubebuilder:object:generate=false
type RuntimeClassTweak func(*RuntimeClass)

// NewRuntimeClass returns a class of sandboxes that grants the given
// capabilities, or none. It is not the default class.
func NewRuntimeClass(name string, grants []string, tweaks ...RuntimeClassTweak) *RuntimeClass {
	class := &RuntimeClass{
		TypeMeta:   metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: "RuntimeClass"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: RuntimeClassSpec{
			ControllerName: Group + "/kata-provider",
			Isolation:      &RuntimeClassIsolation{Boundary: "VirtualMachine"},
			Capabilities:   RuntimeClassCapabilities{Features: []string{FeatureSandboxRuntime}},
		},
	}
	if len(grants) > 0 {
		// The schema allows the one only with the other (section 1.1).
		class.Spec.Capabilities.Features = append(class.Spec.Capabilities.Features, FeatureContainerCapabilities)
		class.Spec.Capabilities.GrantableCapabilities = grants
	}
	for _, tweak := range tweaks {
		tweak(class)
	}
	return class
}

// AsDefault marks the class as the default one.
func AsDefault(class *RuntimeClass) { class.Spec.Default = true }

// WithDefaultAdd makes admission add capabilities to containers that state none.
func WithDefaultAdd(capabilities ...string) RuntimeClassTweak {
	return func(class *RuntimeClass) {
		class.Spec.DefaultSecurityContext = &ClassSecurityContext{Capabilities: &ClassCapabilities{Add: capabilities}}
	}
}
