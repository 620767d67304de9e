package deploy

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
)

const (
	crashed = "False/InstanceCrashing 1 of 1 instances is repeatedly exiting and restarting: "
	waiting = "False/InstancesProvisioning Instances are being provisioned"
)

// overwrite writes what the platform's deployment controller writes, and returns what came of it.
func (f *family) overwrite(t *testing.T) string {
	t.Helper()
	var d *computeapi.WorkloadDeployment
	waitUntil(t, "a write that meets no other", func() (bool, string) {
		d = &computeapi.WorkloadDeployment{}
		require.NoError(t, f.client.Get(t.Context(), client.ObjectKeyFromObject(f.deployment), d))
		d.Status.Conditions = []metav1.Condition{notAvailable("InstancesProvisioning", "Instances are being provisioned")}
		err := f.client.Status().Update(t.Context(), d)
		return err == nil, "conflicts"
	})
	return computeapi.Summary(d.Status.Conditions, computeapi.AvailableCondition)
}

// saysSoon waits until both parents say it, which the repair loop sees to.
func (f *family) saysSoon(t *testing.T, want string) {
	t.Helper()
	waitUntil(t, "both parents to say "+want, func() (bool, string) {
		deployment, workload := f.says(t)
		return deployment == want && workload == want, deployment + " and " + workload
	})
}

// Each switch of the README turns off what it says and nothing else.
func TestOffSwitches(t *testing.T) {
	whole := t // processes outlive the part that starts them
	r := started(t, overlay("default"), controlplane.Options{})
	c := clientFor(t, r.AdminConfig())
	require.NoError(t, c.Create(t.Context(), computeapi.NewRuntimeClass("web", []string{"NET_BIND_SERVICE"}, computeapi.AsDefault)))
	webhook := r.start(t, "webhook", "--capabilities=warn")
	sidecar := r.start(t, "statuspatch", "--overlay=false")

	t.Run("--capabilities=warn counts and warns", func(t *testing.T) {
		said := &warnings{}
		config := rest.CopyConfig(r.AdminConfig())
		config.WarningHandler = said
		warned := clientFor(t, config)
		waitUntil(t, "a warning", func() (bool, string) {
			require.NoError(t, warned.Create(t.Context(), computeapi.NewWorkload("default", "adds", computeapi.WithAdd("SYS_ADMIN")), client.DryRunAll))
			return len(said.text) > 0, "none"
		})
		assert.Contains(t, said.text[0], `capability "SYS_ADMIN" is not granted by runtime class "web"`)
		metrics, err := webhook.Metrics(t.Context())
		require.NoError(t, err)
		assert.Contains(t, metrics, `causeway_capability_refusals_total{resource="workloads",rule="grant"} 1`)
	})

	f := newFamily(t, c, "default", "watched")
	t.Run("--overlay=false leaves other writers alone", func(t *testing.T) {
		waitUntil(t, "the API server to know the webhook", func() (bool, string) {
			require.NoError(t, f.crash(t.Context(), "One."))
			deployment, _ := f.says(t)
			return deployment == crashed+"One.", deployment
		})
		assert.Equal(t, waiting, f.overwrite(t))
		f.saysSoon(t, crashed+"One.") // by the loop
	})
	t.Run("and without the flag it does not", func(t *testing.T) {
		require.NoError(t, sidecar.Stop())
		r.start(whole, "statuspatch")
		assert.Equal(t, crashed+"One.", f.overwrite(t))
	})

	t.Run("causeway.dev/paused leaves one parent alone", func(t *testing.T) {
		annotate := func(value string) {
			patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"causeway.dev/paused":`+value+`}}}`))
			require.NoError(t, c.Patch(t.Context(), f.deployment.DeepCopy(), patch))
		}
		annotate(`""`)
		var last string
		turn := 0
		waitUntil(t, "the annotation to be seen", func() (bool, string) {
			turn++
			last = "Turn " + strconv.Itoa(turn) + "."
			require.NoError(t, f.crash(t.Context(), last))
			deployment, _ := f.says(t)
			return deployment != crashed+last, "it is not"
		})
		_, workload := f.says(t)
		assert.Equal(t, crashed+last, workload, "its children still count in its Workload")
		assert.Equal(t, waiting, f.overwrite(t), "nor is anybody else's write corrected")
		annotate("null")
		f.saysSoon(t, crashed+last)
	})

	without := func(t *testing.T, kind, name string) {
		t.Helper()
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("admissionregistration.k8s.io/v1")
		o.SetKind(kind)
		o.SetName(name)
		require.NoError(t, c.Delete(t.Context(), o))
	}
	t.Run("without causeway-overlay the loop repairs", func(t *testing.T) {
		without(t, "MutatingWebhookConfiguration", "causeway-overlay")
		waitUntil(t, "the API server to know", func() (bool, string) { s := f.overwrite(t); return s == waiting, s })
		f.crashedSoon(t)
	})
	t.Run("without causeway-status the loop sees Instances", func(t *testing.T) {
		without(t, "ValidatingWebhookConfiguration", "causeway-status")
		require.NoError(t, f.crash(t.Context(), "Seen by the loop."))
		f.saysSoon(t, crashed+"Seen by the loop.")
	})
	t.Run("without causeway-webhook nothing is refused", func(t *testing.T) {
		require.NoError(t, webhook.Stop())
		adds := func() error {
			return c.Create(t.Context(), computeapi.NewWorkload("default", "adds", computeapi.WithAdd("SYS_ADMIN")), client.DryRunAll)
		}
		require.ErrorContains(t, adds(), "failed calling webhook")
		without(t, "ValidatingWebhookConfiguration", "causeway-webhook")
		waitUntil(t, "the API server to know", func() (bool, string) { return adds() == nil, "it does not" })
	})
}

// crashedSoon waits until both parents say again that the Instance crashes.
func (f *family) crashedSoon(t *testing.T) {
	t.Helper()
	var i computeapi.Instance
	require.NoError(t, f.client.Get(t.Context(), client.ObjectKeyFromObject(f.instance), &i))
	f.saysSoon(t, crashed+computeapi.Condition(i.Status.Conditions, computeapi.ReadyCondition).Message)
}
