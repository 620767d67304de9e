package main

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/cmd/kubectl-why/tree"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

const (
	group    = "compute.datumapis.com"
	version1 = "v1alpha"

	labelOrdinal = group + "/instance-index"
)

// What is read of the API.
var (
	workloads   = resource("workloads")
	deployments = resource("workloaddeployments")
	instances   = resource("instances")
)

func resource(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version1, Resource: name}
}

type instanceObject struct {
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

type deploymentObject struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		WorkloadRef struct {
			UID types.UID `json:"uid"`
		} `json:"workloadRef"`
		PlacementName string `json:"placementName"`
		LocationRef   struct {
			Name string `json:"name"`
		} `json:"locationRef"`
		CityCode      string `json:"cityCode"` // the older name of the location
		Replicas      *int32 `json:"replicas"`
		ScaleSettings struct {
			MinReplicas int32 `json:"minReplicas"`
		} `json:"scaleSettings"`
	} `json:"spec"`
	Status struct {
		Replicas      int32              `json:"replicas"`
		ReadyReplicas int32              `json:"readyReplicas"`
		Conditions    []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

type workloadObject struct {
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		Replicas      int32              `json:"replicas"`
		ReadyReplicas int32              `json:"readyReplicas"`
		Conditions    []metav1.Condition `json:"conditions"`
		Placements    []struct {
			Name          string             `json:"name"`
			Replicas      int32              `json:"replicas"`
			ReadyReplicas int32              `json:"readyReplicas"`
			Conditions    []metav1.Condition `json:"conditions"`
		} `json:"placements"`
	} `json:"status"`
}

// decode reads what is known here of an object.
func decode[T any](o *unstructured.Unstructured) (*T, error) {
	into := new(T)
	return into, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into)
}

func readInstance(o *instanceObject) tree.Instance {
	i := tree.Instance{
		Name: o.Name, Deployment: owner(o.OwnerReferences, "WorkloadDeployment", false),
		Ordinal: rollup.NoOrdinal, Deleting: o.DeletionTimestamp != nil, Conditions: o.Status.Conditions,
	}
	if n, err := strconv.Atoi(o.Labels[labelOrdinal]); err == nil && n >= 0 {
		i.Ordinal = n
	}
	return i
}

func readDeployment(o *deploymentObject) tree.Deployment {
	d := tree.Deployment{
		Name: o.Name, UID: o.UID, Workload: owner(o.OwnerReferences, "Workload", true),
		Placement: o.Spec.PlacementName, Location: o.Spec.LocationRef.Name, Deleting: o.DeletionTimestamp != nil,
		Replicas: o.Status.Replicas, ReadyReplicas: o.Status.ReadyReplicas, Conditions: o.Status.Conditions,
	}
	if d.Workload == "" {
		// The one link that holds on every plane.
		d.Workload = o.Spec.WorkloadRef.UID
	}
	if d.Location == "" {
		d.Location = o.Spec.CityCode
	}
	if !d.Deleting {
		d.Desired = o.Spec.ScaleSettings.MinReplicas
		if o.Spec.Replicas != nil {
			d.Desired = *o.Spec.Replicas
		}
	}
	return d
}

func readWorkload(o *workloadObject) tree.Workload {
	w := tree.Workload{
		Namespace: o.Namespace, Name: o.Name, UID: o.UID, Deleting: o.DeletionTimestamp != nil,
		Replicas: o.Status.Replicas, ReadyReplicas: o.Status.ReadyReplicas, Conditions: o.Status.Conditions,
	}
	for _, p := range o.Status.Placements {
		w.Placements = append(w.Placements, tree.Placement{
			Name: p.Name, Replicas: p.Replicas, ReadyReplicas: p.ReadyReplicas, Conditions: p.Conditions,
		})
	}
	return w
}

// owner is the UID of the owner of a kind of the API. An Instance that was
// projected from another plane is owned, but not controlled; labels are never
// gone by, since on such an Instance they hold the other plane's UID.
func owner(references []metav1.OwnerReference, kind string, controller bool) types.UID {
	for _, r := range references {
		if r.Kind == kind && strings.HasPrefix(r.APIVersion, group+"/") &&
			(!controller || r.Controller != nil && *r.Controller) {
			return r.UID
		}
	}
	return ""
}
