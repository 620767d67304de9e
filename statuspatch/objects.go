package statuspatch

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// The API's objects, cut down to what is decided on. They are decoded from,
// and never sent back: a field that is not here survives because it is never
// written.

// groupVersion is the API this package reads and patches.
var groupVersion = schema.GroupVersion{Group: "compute.datumapis.com", Version: "v1alpha"}

// objectMeta is what is read of an object's metadata. Most of the rest, and of
// the whole object, are managed fields.
type objectMeta struct {
	Name              string                  `json:"name"`
	Namespace         string                  `json:"namespace"`
	UID               types.UID               `json:"uid"`
	ResourceVersion   string                  `json:"resourceVersion"`
	DeletionTimestamp *metav1.Time            `json:"deletionTimestamp"`
	OwnerReferences   []metav1.OwnerReference `json:"ownerReferences"`
	Labels            struct {
		Ordinal string `json:"compute.datumapis.com/instance-index"`
	} `json:"labels"`
	Annotations struct {
		Paused *string `json:"causeway.dev/paused"`
		// InitialEventsEnd marks the bookmark that ends a watch's first events,
		// which client-go's reflectors wait for.
		InitialEventsEnd string `json:"k8s.io/initial-events-end"`
	} `json:"annotations"`
}

func (m *objectMeta) copy() objectMeta {
	out := *m
	out.DeletionTimestamp = m.DeletionTimestamp.DeepCopy()
	out.OwnerReferences = slices.Clone(m.OwnerReferences)
	for i := range out.OwnerReferences {
		m.OwnerReferences[i].DeepCopyInto(&out.OwnerReferences[i])
	}
	if m.Annotations.Paused != nil {
		paused := *m.Annotations.Paused
		out.Annotations.Paused = &paused
	}
	return out
}

type named struct {
	Metadata objectMeta `json:"metadata"`
}

// GetObjectMeta satisfies metav1.ObjectMetaAccessor, for client-go's reflectors,
// which read the answer and never write to it: it is a copy.
func (n *named) GetObjectMeta() metav1.Object {
	m := &metav1.ObjectMeta{
		Name: n.Metadata.Name, Namespace: n.Metadata.Namespace, UID: n.Metadata.UID,
		ResourceVersion: n.Metadata.ResourceVersion, DeletionTimestamp: n.Metadata.DeletionTimestamp,
	}
	if end := n.Metadata.Annotations.InitialEventsEnd; end != "" {
		m.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: end}
	}
	return m
}

var (
	_ metav1.ObjectMetaAccessor = &instanceObject{}
	_ metav1.ObjectMetaAccessor = &deploymentObject{}
	_ metav1.ObjectMetaAccessor = &workloadObject{}
)

type instanceObject struct {
	metav1.TypeMeta `json:",inline"`
	named
	Spec   instanceSpec `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`

	// read is set by slim.
	read *ledger.Instance
}

// instanceSpec is what a hint about capabilities needs; a virtual machine has no
// sandbox, and no containers.
type instanceSpec struct {
	Runtime struct {
		Class   string `json:"class"`
		Sandbox struct {
			Containers []struct {
				Name string `json:"name"`
			} `json:"containers"`
		} `json:"sandbox"`
	} `json:"runtime"`
}

// UnmarshalJSON never fails: what a later version of the API writes otherwise
// costs a hint, not the status.
func (s *instanceSpec) UnmarshalJSON(data []byte) error {
	type plain instanceSpec
	var read plain
	if unmarshal(data, &read) == nil {
		*s = instanceSpec(read)
	}
	return nil
}

// slim reads the object and lets go of the rest. Of a list of a hundred thousand
// only this is held until the list is complete. The spec and the conditions stay
// where somebody else than the ledger reads them.
func (o *instanceObject) slim(observed bool) {
	o.read = readInstance(o)
	o.TypeMeta = metav1.TypeMeta{}
	o.Metadata = objectMeta{
		Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, UID: o.Metadata.UID,
		ResourceVersion: o.Metadata.ResourceVersion, DeletionTimestamp: o.Metadata.DeletionTimestamp,
	}
	if !observed {
		o.Spec, o.Status.Conditions = instanceSpec{}, nil
	}
}

type deploymentObject struct {
	metav1.TypeMeta `json:",inline"`
	named
	Spec struct {
		WorkloadRef struct {
			Name string `json:"name"`
			UID  string `json:"uid"`
		} `json:"workloadRef"`
		PlacementName string `json:"placementName"`
		Replicas      *int32 `json:"replicas"`
		ScaleSettings struct {
			MinReplicas int32 `json:"minReplicas"`
		} `json:"scaleSettings"`
	} `json:"spec"`
	Status struct {
		// Replicas is required once there is a status; nil tells that none was
		// ever written.
		Replicas      *int32             `json:"replicas"`
		ReadyReplicas int32              `json:"readyReplicas"`
		Conditions    []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

type workloadObject struct {
	metav1.TypeMeta `json:",inline"`
	named
	Status struct {
		Replicas   *int32             `json:"replicas"`
		Conditions []metav1.Condition `json:"conditions"`
		Placements []placementObject  `json:"placements"`
	} `json:"status"`
}

type placementObject struct {
	Name       string             `json:"name"`
	Conditions []metav1.Condition `json:"conditions"`
}

type (
	instanceList   = listOf[instanceObject]
	deploymentList = listOf[deploymentObject]
	workloadList   = listOf[workloadObject]
)

type listOf[T any] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []T `json:"items"`
}

// DeepCopyObject satisfies runtime.Object.
func (o *instanceObject) DeepCopyObject() runtime.Object {
	out := *o
	out.Metadata = o.Metadata.copy()
	out.Spec.Runtime.Sandbox.Containers = slices.Clone(o.Spec.Runtime.Sandbox.Containers)
	out.Status.Conditions = copyConditions(o.Status.Conditions)
	return &out
}

// DeepCopyObject satisfies runtime.Object.
func (o *deploymentObject) DeepCopyObject() runtime.Object {
	out := *o
	out.Metadata = o.Metadata.copy()
	out.Spec.Replicas = copyInt32(o.Spec.Replicas)
	out.Status.Replicas = copyInt32(o.Status.Replicas)
	out.Status.Conditions = copyConditions(o.Status.Conditions)
	return &out
}

// DeepCopyObject satisfies runtime.Object.
func (o *workloadObject) DeepCopyObject() runtime.Object {
	out := *o
	out.Metadata = o.Metadata.copy()
	out.Status.Replicas = copyInt32(o.Status.Replicas)
	out.Status.Conditions = copyConditions(o.Status.Conditions)
	out.Status.Placements = slices.Clone(o.Status.Placements)
	for i := range out.Status.Placements {
		out.Status.Placements[i].Conditions = copyConditions(out.Status.Placements[i].Conditions)
	}
	return &out
}

// DeepCopyObject satisfies runtime.Object. Nothing here copies a list; the
// items are shared.
func (l *listOf[T]) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = slices.Clone(l.Items)
	return &out
}

func copyConditions(in []metav1.Condition) []metav1.Condition {
	out := slices.Clone(in)
	for i := range out {
		in[i].DeepCopyInto(&out[i])
	}
	return out
}

func copyInt32(in *int32) *int32 {
	if in == nil {
		return nil
	}
	out := *in
	return &out
}

// newScheme knows the cut down objects by the API's kinds.
func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, groupVersion)
	s.AddKnownTypeWithName(groupVersion.WithKind("Instance"), &instanceObject{})
	s.AddKnownTypeWithName(groupVersion.WithKind("InstanceList"), &instanceList{})
	s.AddKnownTypeWithName(groupVersion.WithKind("WorkloadDeployment"), &deploymentObject{})
	s.AddKnownTypeWithName(groupVersion.WithKind("WorkloadDeploymentList"), &deploymentList{})
	s.AddKnownTypeWithName(groupVersion.WithKind("Workload"), &workloadObject{})
	s.AddKnownTypeWithName(groupVersion.WithKind("WorkloadList"), &workloadList{})
	return s
}
