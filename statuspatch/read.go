package statuspatch

import (
	"strconv"
	"strings"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

const (
	conditionAvailable     = "Available"
	conditionReplicasReady = "ReplicasReady"
)

// readInstance is what the ledger keeps of an Instance.
func readInstance(o *instanceObject) *ledger.Instance {
	if o.read != nil {
		return o.read
	}
	return &ledger.Instance{
		NamespacedName:  types.NamespacedName{Namespace: intern(o.Metadata.Namespace), Name: o.Metadata.Name},
		UID:             o.Metadata.UID,
		ResourceVersion: o.Metadata.ResourceVersion,
		Deployment:      deploymentOf(o),
		Member:          rollup.Member{Ordinal: ordinalOf(o), Name: o.Metadata.Name},
		Contribution:    rollup.ReadInstance(o.Metadata.DeletionTimestamp != nil, o.Status.Conditions),
	}
}

// intern answers one copy of strings that many Instances have in common.
func intern(s string) string { return unique.Make(s).Value() }

// deploymentOf finds the deployment by the owner reference of its kind,
// controller or not: a projected Instance's is not. Never by label, which on a
// projected Instance holds another plane's UID.
func deploymentOf(o *instanceObject) ledger.Parent {
	for _, ref := range o.Metadata.OwnerReferences {
		if isOwner(ref, "WorkloadDeployment") {
			return ledger.Parent{
				Kind: ledger.KindDeployment, Namespace: intern(o.Metadata.Namespace),
				Name: intern(ref.Name), UID: types.UID(intern(string(ref.UID))),
			}
		}
	}
	return ledger.Parent{}
}

// isOwner tells an owner reference to a kind of the API, in any of its versions.
func isOwner(ref metav1.OwnerReference, kind string) bool {
	if ref.Kind != kind || ref.UID == "" {
		return false
	}
	group, _, versioned := strings.Cut(ref.APIVersion, "/")
	return versioned && group == groupVersion.Group
}

func ordinalOf(o *instanceObject) int {
	n, err := strconv.Atoi(o.Metadata.Labels.Ordinal)
	if err != nil || n < 0 {
		return rollup.NoOrdinal
	}
	return n
}

// readDeployment is what the ledger keeps of a WorkloadDeployment.
func readDeployment(o *deploymentObject) *ledger.Deployment {
	d := &ledger.Deployment{
		Parent:          ledger.Parent{Kind: ledger.KindDeployment, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, UID: o.Metadata.UID},
		ResourceVersion: o.Metadata.ResourceVersion,
		Workload:        workloadOf(o),
		Placement:       o.Spec.PlacementName,
		Deleting:        o.Metadata.DeletionTimestamp != nil,
		Paused:          isPaused(o.Metadata.Annotations.Paused),
		Written:         o.Status.Replicas != nil,
		ReadyReplicas:   o.Status.ReadyReplicas,
		Conditions:      readConditions(o.Status.Conditions),
	}
	if o.Status.Replicas != nil {
		d.Replicas = *o.Status.Replicas
	}
	if !d.Deleting {
		d.Desired = o.Spec.ScaleSettings.MinReplicas
		if o.Spec.Replicas != nil {
			d.Desired = *o.Spec.Replicas
		}
	}
	return d
}

// workloadOf finds the Workload by the controller owner reference, else by the
// reference in the spec, which is the one link that holds across planes.
func workloadOf(o *deploymentObject) ledger.Parent {
	w := ledger.Parent{Kind: ledger.KindWorkload, Namespace: o.Metadata.Namespace}
	for _, ref := range o.Metadata.OwnerReferences {
		if ref.Controller != nil && *ref.Controller && isOwner(ref, "Workload") {
			w.Name, w.UID = ref.Name, ref.UID
			return w
		}
	}
	if o.Spec.WorkloadRef.Name == "" || o.Spec.WorkloadRef.UID == "" {
		return ledger.Parent{}
	}
	w.Name, w.UID = o.Spec.WorkloadRef.Name, types.UID(o.Spec.WorkloadRef.UID)
	return w
}

// readWorkload is what the ledger keeps of a Workload.
func readWorkload(o *workloadObject) *ledger.Workload {
	w := &ledger.Workload{
		Parent:          ledger.Parent{Kind: ledger.KindWorkload, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, UID: o.Metadata.UID},
		ResourceVersion: o.Metadata.ResourceVersion,
		Deleting:        o.Metadata.DeletionTimestamp != nil,
		Paused:          isPaused(o.Metadata.Annotations.Paused),
		Written:         o.Status.Replicas != nil,
		Conditions:      readConditions(o.Status.Conditions),
		Placements:      make([]ledger.Placement, len(o.Status.Placements)),
	}
	for i, p := range o.Status.Placements {
		w.Placements[i] = ledger.Placement{Name: p.Name, Conditions: readConditions(p.Conditions)}
	}
	return w
}

// isPaused: the annotation's presence pauses, unless it says "false".
func isPaused(annotation *string) bool { return annotation != nil && *annotation != "false" }

func readConditions(list []metav1.Condition) ledger.Conditions {
	c := ledger.Conditions{Listed: list != nil}
	for i := range list {
		switch {
		case list[i].Type == conditionAvailable && c.Available == nil:
			c.Available = &ledger.Condition{Index: i, Condition: list[i]}
		case list[i].Type == conditionReplicasReady && c.ReplicasReady == nil:
			c.ReplicasReady = &ledger.Condition{Index: i, Condition: list[i]}
		case list[i].Type == conditionDegraded && c.Degraded == nil:
			c.Degraded = &ledger.Condition{Index: i, Condition: list[i]}
		}
	}
	return c
}
