package e2e

import (
	"fmt"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

// hand makes objects and writes statuses where no platform runs, so that every
// write is the test's own.
type hand struct {
	*scene
	writer client.WithWatch
}

func (s *scene) byHand() *hand {
	s.t.Helper()
	writer, err := s.Client(environment.Writer)
	require.NoError(s.t, err)
	return &hand{s, writer}
}

// family is a Workload with one deployment in each of its placements.
type family struct {
	workload    *computeapi.Workload
	deployments []*computeapi.WorkloadDeployment
}

// family makes a Workload and its deployments, none of which has a status.
func (h *hand) family(name string, placements ...string) family {
	h.t.Helper()
	var tweaks []computeapi.WorkloadTweak
	for _, p := range placements {
		tweaks = append(tweaks, computeapi.WithPlacement(p, 1, "us"))
	}
	f := family{workload: computeapi.NewWorkload(namespace, name, tweaks...)}
	require.NoError(h.t, h.writer.Create(h.ctx, f.workload))
	for _, p := range f.workload.Spec.Placements {
		f.deployments = append(f.deployments, h.deployment(f.workload, p.Name))
	}
	return f
}

func (h *hand) deployment(w *computeapi.Workload, placement string) *computeapi.WorkloadDeployment {
	h.t.Helper()
	d := &computeapi.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: w.Name + "-" + placement,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(w, computeapi.GroupVersion.WithKind("Workload"))},
		},
		Spec: computeapi.WorkloadDeploymentSpec{
			WorkloadRef:   computeapi.WorkloadReference{Name: w.Name, UID: w.UID},
			PlacementName: placement,
			LocationRef:   &computeapi.LocationReference{Name: "us"},
			Template:      *w.Spec.Template.DeepCopy(),
			ScaleSettings: computeapi.ScaleSettings{MinReplicas: 1, InstanceManagementPolicy: "OrderedReady"},
		},
	}
	require.NoError(h.t, h.writer.Create(h.ctx, d))
	return d
}

// instance makes an Instance of a deployment, with the conditions that the API
// server stamps on it.
func (h *hand) instance(d *computeapi.WorkloadDeployment, ordinal int) *computeapi.Instance {
	h.t.Helper()
	i := &computeapi.Instance{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprintf("%s-%d", d.Name, ordinal),
			Labels:          map[string]string{computeapi.InstanceIndexLabel: strconv.Itoa(ordinal)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, computeapi.GroupVersion.WithKind("WorkloadDeployment"))},
		},
		Spec: *d.Spec.Template.Spec.DeepCopy(),
	}
	require.NoError(h.t, h.writer.Create(h.ctx, i))
	return i
}

// tell writes conditions into the status of an Instance, over those of their
// type.
func (h *hand) tell(i *computeapi.Instance, conditions ...metav1.Condition) {
	h.t.Helper()
	for _, c := range conditions {
		meta.SetStatusCondition(&i.Status.Conditions, c)
	}
	require.NoError(h.t, h.writer.Status().Update(h.ctx, i, client.FieldOwner("provider")))
}

// ready and fails are what a provider and the instance controller say together.
func (h *hand) ready(i *computeapi.Instance) {
	h.t.Helper()
	h.tell(i, condition(computeapi.ProgrammedCondition, metav1.ConditionTrue, "Programmed", "Instance is available"),
		condition(computeapi.AvailableCondition, metav1.ConditionTrue, "Available", "Instance is available"),
		condition(computeapi.ReadyCondition, metav1.ConditionTrue, "Available", "Instance is ready"))
}

func (h *hand) fails(i *computeapi.Instance, reason, message string) {
	h.t.Helper()
	h.tell(i, condition(computeapi.AvailableCondition, metav1.ConditionFalse, reason, message),
		condition(computeapi.ReadyCondition, metav1.ConditionFalse, reason, message))
}

func condition(conditionType string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(time.Now().UTC().Truncate(time.Second)),
	}
}

// available is a condition Available of a parent.
func available(v said) metav1.Condition {
	c := condition(computeapi.AvailableCondition, v.Status, v.Reason, v.Message)
	c.ObservedGeneration = 1
	return c
}

// What the platform says where it knows nothing.
var (
	provisioning = said{metav1.ConditionFalse, "InstancesProvisioning", "Instances are being provisioned"}
	noPlacement  = said{metav1.ConditionFalse, "NoAvailablePlacements", "No available placements were found for the workload"}
	noDeployment = said{metav1.ConditionFalse, "NoAvailableDeployments", "No available deployments were found for the placement"}
)

// writeDeployment writes a whole status by update, as the deployment controller
// does: so many replicas, none ready, and Available as given.
func (h *hand) writeDeployment(d *computeapi.WorkloadDeployment, replicas int32, v said) {
	h.t.Helper()
	d = get(h.scene, d.Name, &computeapi.WorkloadDeployment{})
	d.Status.Replicas, d.Status.DesiredReplicas, d.Status.ObservedGeneration = replicas, 1, d.Generation
	meta.SetStatusCondition(&d.Status.Conditions, available(v))
	require.NoError(h.t, h.writer.Status().Update(h.ctx, d, client.FieldOwner("deployment-controller")))
}

// writeWorkload writes a whole status by update, as the workload controller
// does, with one entry for each placement of the spec.
func (h *hand) writeWorkload(w *computeapi.Workload, v said) {
	h.t.Helper()
	w = get(h.scene, w.Name, &computeapi.Workload{})
	old := w.Status.Placements
	w.Status.Placements = nil
	w.Status.ObservedGeneration = w.Generation
	for _, p := range w.Spec.Placements {
		status := computeapi.PlacementStatus{Name: p.Name, DesiredReplicas: p.ScaleSettings.MinReplicas}
		for _, o := range old {
			if o.Name == p.Name {
				status.Conditions = o.Conditions
			}
		}
		meta.SetStatusCondition(&status.Conditions,
			condition(computeapi.AvailableCondition, noDeployment.Status, noDeployment.Reason, noDeployment.Message))
		w.Status.Placements = append(w.Status.Placements, status)
	}
	meta.SetStatusCondition(&w.Status.Conditions, available(v))
	require.NoError(h.t, h.writer.Status().Update(h.ctx, w, client.FieldOwner("workload-controller")))
}

// status writes a first or lossy status of all parents of a family.
func (h *hand) status(f family, replicas int32) {
	h.t.Helper()
	for _, d := range f.deployments {
		h.writeDeployment(d, replicas, provisioning)
	}
	h.writeWorkload(f.workload, noPlacement)
}

// says are Available of the Workload, of its first deployment and of its first
// placement.
func (h *hand) says(f family) (workload, deployment, placement said) {
	h.t.Helper()
	w := get(h.scene, f.workload.Name, &computeapi.Workload{})
	if len(w.Status.Placements) > 0 {
		placement = saysOf(w.Status.Placements[0].Conditions, computeapi.AvailableCondition)
	}
	return saysOf(w.Status.Conditions, computeapi.AvailableCondition), h.deploymentSays(f.deployments[0].Name), placement
}
