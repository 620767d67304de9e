package deploy

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

// clientFor knows the compute API and Kubernetes' own.
func clientFor(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, computeapi.AddToScheme(scheme))
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	c, err := client.New(config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	return c
}

// family is a Workload with one deployment and one Instance, linked as the platform links them. Nobody runs it: what is
// in a status somebody in a test wrote.
type family struct {
	client     client.Client
	workload   *computeapi.Workload
	deployment *computeapi.WorkloadDeployment
	instance   *computeapi.Instance
}

// newFamily creates all three, the parents with a first status.
func newFamily(t *testing.T, c client.Client, namespace, name string, tweaks ...computeapi.WorkloadTweak) *family {
	t.Helper()
	f := &family{client: c, workload: computeapi.NewWorkload(namespace, name, tweaks...)}
	require.NoError(t, c.Create(t.Context(), f.workload))
	f.deployment = deploymentOf(f.workload)
	require.NoError(t, c.Create(t.Context(), f.deployment))
	f.instance = instanceOf(f.deployment)
	require.NoError(t, c.Create(t.Context(), f.instance))
	stock := []metav1.Condition{notAvailable("InstancesProvisioning", "Instances are being provisioned")}
	f.deployment.Status = computeapi.WorkloadDeploymentStatus{Replicas: 1, DesiredReplicas: 1, Conditions: stock}
	require.NoError(t, c.Status().Update(t.Context(), f.deployment))
	f.workload.Status = computeapi.WorkloadStatus{Deployments: 1, Replicas: 1, DesiredReplicas: 1,
		Conditions: []metav1.Condition{notAvailable("NoAvailablePlacements", "No available placements were found for the workload")}}
	require.NoError(t, c.Status().Update(t.Context(), f.workload))
	return f
}

func notAvailable(reason, message string) metav1.Condition {
	return metav1.Condition{Type: computeapi.AvailableCondition, Status: metav1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: metav1.Now()}
}

func deploymentOf(w *computeapi.Workload) *computeapi.WorkloadDeployment {
	placement := w.Spec.Placements[0]
	return &computeapi.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name, OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(w, computeapi.GroupVersion.WithKind("Workload"))}},
		Spec: computeapi.WorkloadDeploymentSpec{
			WorkloadRef: computeapi.WorkloadReference{Name: w.Name, UID: w.UID}, PlacementName: placement.Name,
			LocationRef: &placement.Locations[0], ScaleSettings: placement.ScaleSettings, Template: w.Spec.Template},
	}
}

func instanceOf(d *computeapi.WorkloadDeployment) *computeapi.Instance {
	return &computeapi.Instance{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name + "-0", Labels: map[string]string{computeapi.InstanceIndexLabel: "0"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, computeapi.GroupVersion.WithKind("WorkloadDeployment"))}},
		Spec: d.Spec.Template.Spec,
	}
}

// crash writes what a provider writes of an Instance that crashes; the detail makes one write differ from another.
func (f *family) crash(ctx context.Context, detail string) error {
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"conditions":[`+condition("Ready", "False", "InstanceCrashing", detail)+`]}}`))
	return f.client.Status().Patch(ctx, f.instance.DeepCopy(), patch)
}

// recovers writes that it is ready.
func (f *family) recovers(ctx context.Context) error { return f.serves(ctx, "Instance is ready") }

// serves writes that it is ready, in other words each time.
func (f *family) serves(ctx context.Context, message string) error {
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"conditions":[`+condition("Ready", "True", "Available", message)+`]}}`))
	return f.client.Status().Patch(ctx, f.instance.DeepCopy(), patch)
}

// says reads Available of both parents.
func (f *family) says(t *testing.T) (deployment, workload string) {
	t.Helper()
	require.NoError(t, f.client.Get(t.Context(), client.ObjectKeyFromObject(f.deployment), f.deployment))
	require.NoError(t, f.client.Get(t.Context(), client.ObjectKeyFromObject(f.workload), f.workload))
	return computeapi.Summary(f.deployment.Status.Conditions, computeapi.AvailableCondition), computeapi.Summary(f.workload.Status.Conditions, computeapi.AvailableCondition)
}

func newNamespace(t *testing.T, c client.Client, name string, labels map[string]string) {
	t.Helper()
	require.NoError(t, client.IgnoreAlreadyExists(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})))
}

// patience bounds every wait here; it is no claim about Causeway.
const patience = time.Minute

// waitUntil bounds a wait for a state that nobody announces.
func waitUntil(t *testing.T, what string, reached func() (bool, string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, environment.WaitFor(ctx, what, reached))
}

// cleanup is a context for what is done when the test, and its own context, is over.
func cleanup(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
