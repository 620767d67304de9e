package platform_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/platform"
)

// TestStylesAndFieldManagers: each style reaches the same answers, under the
// field manager that was asked for.
func TestStylesAndFieldManagers(t *testing.T) {
	for _, style := range []platform.Style{platform.StyleUpdate, platform.StylePatch, platform.StyleBlindPatch} {
		t.Run(string(style), func(t *testing.T) {
			w := start(t, func(o *platform.Options) {
				o.Workload = platform.WriterOptions{FieldManager: "upper", Style: style}
				o.Deployment = platform.WriterOptions{FieldManager: "middle", Style: style}
				o.Instance = platform.WriterOptions{FieldManager: "lower", Style: style}
			})
			workload := w.workload("web", 1)
			deployment, instance := w.onlyDeployment(), w.instanceKeys(1)[0]
			w.untilWorkload(workload, availableView.workload)
			require.NoError(t, w.Provider.Set(t.Context(), instance, platform.PodFailed))
			w.untilWorkload(workload, provisioningView.workload)

			require.Contains(t, statusManagers(w.getWorkload(workload)), "upper")
			require.Contains(t, statusManagers(w.getDeployment(deployment)), "middle")
			require.Contains(t, statusManagers(w.getInstance(instance)), "lower")
			require.Contains(t, statusManagers(w.getInstance(instance)), platform.ProviderUser)
		})
	}
}

// TestTheProviderPatchesAtOnce: when Set returns, the status is stored, and
// nothing but what belongs to the provider has changed.
func TestTheProviderPatchesAtOnce(t *testing.T) {
	w := start(t, func(o *platform.Options) { o.Flavour = platform.Unikraft })
	w.workload("web", 1)
	instance := w.instanceKeys(1)[0]
	w.untilInstance(instance, "Ready", "True/Available Instance is ready")
	// Set writes all the same, and nobody else: not the provider's own loop, woken
	// by an earlier event, either.
	for _, c := range []*platform.Controller{w.Instance, w.Deployment, w.Provider.Controller} {
		c.Pause()
	}

	before := w.getInstance(instance)
	writes := w.Provider.Writes()
	require.NoError(t, w.Provider.Set(t.Context(), instance, platform.OOMKilled))
	after := w.getInstance(instance)
	require.Equal(t, `False/InstanceCrashing Container "app" keeps exiting (last exit code 137); restarting`,
		computeapi.Summary(after.Status.Conditions, "Available"))
	require.Equal(t, platform.Writes{Calls: writes.Calls + 1, Stored: writes.Stored + 1, Conflicts: writes.Conflicts}, w.Provider.Writes())
	for _, conditionType := range []string{"Ready", "QuotaGranted"} {
		require.Equal(t, computeapi.Condition(before.Status.Conditions, conditionType), computeapi.Condition(after.Status.Conditions, conditionType))
	}
	require.Equal(t, after.Spec.Controller.TemplateHash, after.Status.Controller.ObservedTemplateHash)

	// Nothing changed: nothing is sent.
	writes = w.Provider.Writes()
	require.NoError(t, w.Provider.Set(t.Context(), instance, platform.OOMKilled))
	require.Equal(t, writes, w.Provider.Writes())
}

func TestTheProviderWaitsForGatesAndQuota(t *testing.T) {
	w := start(t)
	everything := types.NamespacedName{Namespace: w.namespace}
	require.NoError(t, w.SetQuota(t.Context(), everything, platform.QuotaPending))
	w.workload("web", 1)
	instance := w.instanceKeys(1)[0]
	require.ErrorIs(t, w.Provider.Set(t.Context(), instance, platform.Stopped), platform.ErrNotRunnable)

	// The state was kept and is written when the Instance may run.
	require.NoError(t, w.SetQuota(t.Context(), everything, platform.QuotaAvailable))
	w.untilInstance(instance, "Ready", "False/Stopped Instance has stopped")

	// Quota that is taken back later fails it, quota that returns heals it.
	require.NoError(t, w.Provider.Set(t.Context(), instance, platform.Running))
	w.untilInstance(instance, "Ready", "True/Available Instance is ready")
	require.NoError(t, w.SetQuota(t.Context(), everything, platform.QuotaExceeded))
	w.untilInstance(instance, "Ready", "False/PendingQuota Quota exceeded")
	require.NoError(t, w.SetQuota(t.Context(), everything, platform.Verdict{}))
	w.untilInstance(instance, "Ready", "True/Available Instance is ready")
}

// TestASuccessorOfTheSameNameStartsAfresh: a state belongs to one Instance, not
// to its name.
func TestASuccessorOfTheSameNameStartsAfresh(t *testing.T) {
	w := start(t)
	w.workload("web", 1)
	instance := w.instanceKeys(1)[0]
	w.untilInstance(instance, "Ready", "True/Available Instance is ready")
	require.NoError(t, w.Provider.Set(t.Context(), instance, platform.PodFailed))
	failed := w.getInstance(instance)
	require.NoError(t, w.client.Delete(t.Context(), failed))
	w.eventually("a successor is ready", func() error {
		var next computeapi.Instance
		if err := w.client.Get(w.ctx, instance, &next); err != nil {
			return err
		}
		if next.UID == failed.UID {
			return errors.New("it is still the old one")
		}
		if got := computeapi.Summary(next.Status.Conditions, "Ready"); got != "True/Available Instance is ready" {
			return errors.New(got)
		}
		return nil
	})
}

// TestStopLeavesNothingBehind: no goroutine, no write, and a platform that is
// started again goes on where the first one was.
func TestStopLeavesNothingBehind(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	options := platform.Options{Config: platformConfig}
	p, err := platform.Start(context.Background(), options)
	require.NoError(t, err)
	p.Workload.Pause() // must not keep Stop waiting
	require.NoError(t, p.Stop())
	require.NoError(t, p.Stop(), "again")
	// What reads from a connection that was closed ends a moment later.
	left := goleak.Find(ignore)
	for began := time.Now(); left != nil && time.Since(began) < time.Minute; {
		left = goleak.Find(ignore)
	}
	require.NoError(t, left)

	w := start(t)
	w.untilWorkload(w.workload("web", 1), availableView.workload)
}

func TestStartWithoutRightsSaysWhoFailed(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err := platform.Start(ctx, platform.Options{Config: func(string) *rest.Config { return shared.Config("nobody") }})
	require.ErrorContains(t, err, "platform-workload-controller")
	_, err = platform.Start(ctx, platform.Options{})
	require.EqualError(t, err, "platform options: Config is required")
}

// statusManagers returns the field managers that own some of a status.
func statusManagers(obj interface {
	GetManagedFields() []metav1.ManagedFieldsEntry
}) []string {
	var names []string
	for _, entry := range obj.GetManagedFields() {
		if entry.FieldsV1 != nil && strings.Contains(string(entry.FieldsV1.Raw), "f:status") {
			names = append(names, entry.Manager)
		}
	}
	return names
}
