package traffic

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// create stores a Workload that has to be asked about, and removes it.
func (t *Traffic) create(ctx context.Context) error {
	w := computeapi.NewWorkload(t.namespace, "", computeapi.WithClass("general-purpose"), computeapi.WithAdd("NET_BIND_SERVICE"))
	w.GenerateName = "passes-"
	if err := t.customer.Create(ctx, w); err != nil {
		return fmt.Errorf("creating a Workload: %w", err)
	}
	if err := t.customer.Delete(ctx, w); err != nil {
		return fmt.Errorf("deleting a Workload: %w", err)
	}
	return nil
}

// refuse asks for what the class does not grant.
func (t *Traffic) refuse(ctx context.Context) error {
	w := computeapi.NewWorkload(t.namespace, "", computeapi.WithClass("unikernel"), computeapi.WithAdd("CHOWN"))
	w.GenerateName = "refused-"
	if err := t.customer.Create(ctx, w, client.DryRunAll); !apierrors.IsInvalid(err) {
		return fmt.Errorf("creating a Workload that is to be refused: got %w", errors.Join(err, errors.New("and no refusal")))
	}
	return nil
}

// statusClient writes one Instance's status over and over.
type statusClient struct {
	*Traffic
	instance *computeapi.Instance
	workload client.ObjectKey
	number   int
}

// newStatusClient makes a Workload, its deployment and its Instance, linked as
// the platform links them, the parents with a first status.
func (t *Traffic) newStatusClient(ctx context.Context) (*statusClient, error) {
	w := computeapi.NewWorkload(t.namespace, "steady")
	if err := t.customer.Create(ctx, w); err != nil {
		return nil, err
	}
	placement := w.Spec.Placements[0]
	d := &computeapi.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name, OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(w, computeapi.GroupVersion.WithKind("Workload"))}},
		Spec: computeapi.WorkloadDeploymentSpec{
			WorkloadRef: computeapi.WorkloadReference{Name: w.Name, UID: w.UID}, PlacementName: placement.Name,
			LocationRef: &placement.Locations[0], ScaleSettings: placement.ScaleSettings, Template: w.Spec.Template},
	}
	if err := t.writer.Create(ctx, d); err != nil {
		return nil, err
	}
	i := &computeapi.Instance{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name + "-0", Labels: map[string]string{computeapi.InstanceIndexLabel: "0"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, computeapi.GroupVersion.WithKind("WorkloadDeployment"))}},
		Spec: d.Spec.Template.Spec,
	}
	if err := t.writer.Create(ctx, i); err != nil {
		return nil, err
	}
	d.Status = computeapi.WorkloadDeploymentStatus{Replicas: 1, DesiredReplicas: 1, Conditions: []metav1.Condition{failing("InstancesProvisioning", "Instances are being provisioned")}}
	if err := t.writer.Status().Update(ctx, d); err != nil {
		return nil, err
	}
	w.Status = computeapi.WorkloadStatus{Deployments: 1, Replicas: 1, DesiredReplicas: 1, Conditions: []metav1.Condition{failing("NoAvailablePlacements", "No available placements were found for the workload")}}
	if err := t.writer.Status().Update(ctx, w); err != nil {
		return nil, err
	}
	return &statusClient{Traffic: t, instance: i, workload: client.ObjectKeyFromObject(w)}, nil
}

func failing(reason, message string) metav1.Condition {
	return metav1.Condition{Type: computeapi.AvailableCondition, Status: metav1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: metav1.Now()}
}

// write reports a crash with a detail that was never there before, and reads it
// from the Workload the moment the write returns.
func (s *statusClient) write(ctx context.Context) error {
	s.number++
	detail := fmt.Sprintf("crash number %d.", s.number)
	o := s.instance.DeepCopy()
	ready := failing("InstanceCrashing", detail)
	ready.Type = "Ready"
	o.Status.Conditions = []metav1.Condition{ready}
	if err := s.writer.Status().Patch(ctx, o, client.MergeFrom(s.instance)); err != nil {
		return fmt.Errorf("writing an Instance's status: %w", err)
	}
	var w computeapi.Workload
	if err := s.customer.Get(ctx, s.workload, &w); err != nil {
		return fmt.Errorf("reading the Workload: %w", err)
	}
	for _, c := range w.Status.Conditions {
		if c.Type == computeapi.AvailableCondition && strings.HasSuffix(c.Message, detail) {
			return nil
		}
	}
	return fmt.Errorf("the Workload does not know of %q: %v", detail, w.Status.Conditions)
}

// failedOpen is what the API server says of requests it let pass unasked, a line
// for each webhook.
func (t *Traffic) failedOpen(ctx context.Context) (string, error) {
	core, err := kubernetes.NewForConfig(t.env.AdminConfig())
	if err != nil {
		return "", err
	}
	text, err := core.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return "", fmt.Errorf("reading the API server's metrics: %w", err)
	}
	var said []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "apiserver_admission_webhook_fail_open_count{") {
			said = append(said, strings.TrimSpace(line))
		}
	}
	return strings.Join(said, ", "), nil
}
