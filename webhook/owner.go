package webhook

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ownerOfDeployment returns the Workload a deployment was made for: its
// controller, else the one its spec names, since copies of a deployment on
// other control planes carry no owner reference. Nil if there is neither.
func ownerOfDeployment(d *WorkloadDeployment) *ownerRef {
	if ref := metav1.GetControllerOf(d); ref != nil && isKind(ref, "Workload") {
		return &ownerRef{kind: ref.Kind, name: ref.Name, uid: ref.UID}
	}
	if ref := d.Spec.WorkloadRef; ref.Name != "" && ref.UID != "" {
		return &ownerRef{kind: "Workload", name: ref.Name, uid: ref.UID}
	}
	return nil
}

// ownerOfInstance returns the deployment an Instance was made for: an owner
// reference of that kind, controller or not, since that of an Instance projected
// into another control plane is not. Labels do not count: anybody sets them.
func ownerOfInstance(i *Instance) *ownerRef {
	for n := range i.OwnerReferences {
		if ref := &i.OwnerReferences[n]; isKind(ref, "WorkloadDeployment") {
			return &ownerRef{kind: ref.Kind, name: ref.Name, uid: ref.UID}
		}
	}
	return nil
}

// isKind compares group and kind: the version of a reference may be an older
// one of the same object.
func isKind(ref *metav1.OwnerReference, kind string) bool {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && gv.Group == Group && ref.Kind == kind
}

// foundOwner is what a read of the owner said.
type foundOwner struct {
	// runtime is nil where the object has no owner to copy from.
	runtime *Runtime
	// elsewhere: the owner is not on this control plane, so what it adds cannot
	// be known.
	elsewhere bool
}

// readOwner reads the owner live. A namesake with another UID is not the owner
// and lends nothing; an owner that is not there at all may live on another
// control plane. It needs `get` on workloads and workloaddeployments.
func readOwner(ctx context.Context, live client.Reader, namespace string, ref *ownerRef) (foundOwner, error) {
	if ref == nil {
		return foundOwner{}, nil
	}
	var object client.Object
	var runtime *Runtime
	if ref.kind == "Workload" {
		w := &Workload{}
		object, runtime = w, &w.Spec.Template.Spec.Runtime
	} else {
		d := &WorkloadDeployment{}
		object, runtime = d, &d.Spec.Template.Spec.Runtime
	}
	err := live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.name}, object)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return foundOwner{elsewhere: true}, nil
	case err != nil:
		return foundOwner{}, &readFailed{what: fmt.Sprintf("reading its owner, %s %s", ref.kind, quote(ref.name)), err: err}
	case object.GetUID() != ref.uid:
		return foundOwner{}, nil
	}
	return foundOwner{runtime: runtime}, nil
}
