package computeapi

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of the compute platform.
const Group = "compute.datumapis.com"

// GroupVersion is the only version of the group.
var GroupVersion = schema.GroupVersion{Group: Group, Version: "v1alpha"}

// AddToScheme registers the four kinds and their lists.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&RuntimeClass{}, &RuntimeClassList{},
		&Workload{}, &WorkloadList{},
		&WorkloadDeployment{}, &WorkloadDeploymentList{},
		&Instance{}, &InstanceList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// NewScheme returns a scheme that knows the four kinds and nothing else.
func NewScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		panic(err) // AddToScheme has no way to fail.
	}
	return scheme
}
