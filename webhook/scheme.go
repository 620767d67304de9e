package webhook

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of every kind judged or read here.
const Group = "compute.datumapis.com"

// GroupVersion is the version in which they are judged and read.
var GroupVersion = schema.GroupVersion{Group: Group, Version: "v1alpha"}

// AddToScheme registers the types of this package. They know only the fields
// that are decided on here, so the scheme must not be shared with a client that
// writes objects of this group, nor with other types for the same kinds.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&Workload{}, &WorkloadList{},
		&WorkloadDeployment{}, &WorkloadDeploymentList{},
		&Instance{}, &InstanceList{},
		&RuntimeClass{}, &RuntimeClassList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
