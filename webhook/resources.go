package webhook

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The paths on which New serves, one for each resource.
const (
	PathWorkloads           = "/validate-compute-datumapis-com-v1alpha-workload"
	PathWorkloadDeployments = "/validate-compute-datumapis-com-v1alpha-workloaddeployment"
	PathInstances           = "/validate-compute-datumapis-com-v1alpha-instance"
)

// resource is what differs between the three resources that are judged.
type resource struct {
	name, kind, path string
	// submitted marks what customers write: doubt refuses it, and its author is
	// told about lost defaults. The others are copies of it.
	submitted bool
	// runtime leads to the runtime, as the fields of the JSON object.
	runtime []string
	// at is runtime as messages show it.
	at     *field.Path
	decode func(raw []byte) (*subject, error)
}

// subject is one object under judgement.
type subject struct {
	meta    *metav1.ObjectMeta
	runtime *Runtime
	owner   *ownerRef // nil where it names none
}

// ownerRef names the object that this one was made for, in its namespace.
type ownerRef struct {
	kind, name string
	uid        types.UID
}

var (
	workloads = &resource{
		name: "workloads", kind: "Workload", path: PathWorkloads, submitted: true,
		runtime: []string{"spec", "template", "spec", "runtime"}, at: field.NewPath("spec", "template", "spec", "runtime"),
		decode: func(raw []byte) (*subject, error) {
			w := &Workload{}
			err := decode(raw, w)
			return &subject{meta: &w.ObjectMeta, runtime: &w.Spec.Template.Spec.Runtime}, err
		},
	}
	workloadDeployments = &resource{
		name: "workloaddeployments", kind: "WorkloadDeployment", path: PathWorkloadDeployments,
		runtime: []string{"spec", "template", "spec", "runtime"}, at: field.NewPath("spec", "template", "spec", "runtime"),
		decode: func(raw []byte) (*subject, error) {
			d := &WorkloadDeployment{}
			err := decode(raw, d)
			return &subject{meta: &d.ObjectMeta, runtime: &d.Spec.Template.Spec.Runtime, owner: ownerOfDeployment(d)}, err
		},
	}
	instances = &resource{
		name: "instances", kind: "Instance", path: PathInstances,
		runtime: []string{"spec", "runtime"}, at: field.NewPath("spec", "runtime"),
		decode: func(raw []byte) (*subject, error) {
			i := &Instance{}
			err := decode(raw, i)
			return &subject{meta: &i.ObjectMeta, runtime: &i.Spec.Runtime, owner: ownerOfInstance(i)}, err
		},
	}
	resources = []*resource{workloads, workloadDeployments, instances}
)

// RuntimeOf returns what Validate judges of a stored object, and the path that
// leads there; nil for an object of any other kind.
func RuntimeOf(object client.Object) (*Runtime, *field.Path) {
	switch o := object.(type) {
	case *Workload:
		return &o.Spec.Template.Spec.Runtime, workloads.at
	case *WorkloadDeployment:
		return &o.Spec.Template.Spec.Runtime, workloadDeployments.at
	case *Instance:
		return &o.Spec.Runtime, instances.at
	default:
		return nil, nil
	}
}
