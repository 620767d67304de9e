package platform_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/platform"
)

// view is what a customer reads above an Instance.
type view struct{ available, replicasReady, workload string }

// The deployment views of section 8. Nothing of the Instance's reason is in
// them but quota and referenced data: this is what Causeway is for.
var (
	provisioningView = view{
		"False/InstancesProvisioning Instances are being provisioned",
		"True/ReplicasAvailable 0/1 replicas available",
		"False/InstancesProvisioning Instances are being provisioned",
	}
	availableView = view{
		"True/StableInstanceFound 1/1 instances are ready",
		"True/ReplicasAvailable 1/1 replicas available",
		"True/AvailablePlacementFound At least one available placement was found",
	}
)

// example drives one Instance by the platform's rules to where section 8 has it.
type example struct {
	tweaks []computeapi.WorkloadTweak
	// before is set up before the Workload is created, after when its Instance
	// has been created.
	before func(w *world)
	after  func(w *world, deployment, instance types.NamespacedName)
	// extraGeneration is 1 where section 8 leaves out that the Network gate,
	// when it was removed, made a new generation.
	extraGeneration int64
	want            view
}

// runs lets the provider report a state once the gates are gone.
func runs(state platform.State) func(*world, types.NamespacedName, types.NamespacedName) {
	return func(w *world, _, instance types.NamespacedName) {
		w.untilInstance(instance, computeapi.ReadyCondition, "False/PendingProgramming Instance has not been programmed")
		require.NoError(w.t, w.Provider.Set(w.ctx, instance, state))
	}
}

func setQuota(answer platform.Verdict) func(*world) {
	return func(w *world) {
		require.NoError(w.t, w.SetQuota(w.ctx, types.NamespacedName{Namespace: w.namespace}, answer))
	}
}

func setData(answer platform.Verdict) func(*world) {
	return func(w *world) {
		require.NoError(w.t, w.SetReferencedData(w.ctx, types.NamespacedName{Namespace: w.namespace}, answer))
	}
}

func examples() map[string]example {
	missing := `ConfigMap "app-config" not found in namespace "default"`
	waitingForData := "False/AwaitingPropagation 1 of 1 desired replicas are waiting for referenced data companions"
	configMap := []computeapi.WorkloadTweak{computeapi.WithConfigMap("app-config")}
	detail := `container "app" has exited and restarted 3 times without staying up for 5 minutes. Its last exit was with code 1.`

	return map[string]example{
		"fresh": {
			before: func(w *world) { w.Instance.Pause() },
			want:   provisioningView,
		},
		"gated": {
			before: func(w *world) {
				setQuota(platform.QuotaPending)(w)
				require.NoError(w.t, w.SetNetwork(w.ctx, types.NamespacedName{Namespace: w.namespace}, platform.NetworkPending))
			},
			want: view{
				"False/NetworkProvisioning Network is being provisioned",
				"True/ReplicasAvailable 0/1 replicas available",
				"False/NetworkProvisioning Network is being provisioned",
			},
		},
		"quota-no-budget": {before: setQuota(platform.QuotaNoBudget), extraGeneration: 1, want: provisioningView},
		"quota-exceeded": {
			before: setQuota(platform.QuotaExceeded), extraGeneration: 1,
			want: view{
				"False/QuotaNotGranted 1 of 1 desired instances pending quota",
				"False/QuotaExceeded 1 of 1 desired replicas are pending quota",
				"False/QuotaNotGranted 1 of 1 desired instances pending quota",
			},
		},
		"referenced-data-missing": {
			tweaks: configMap, before: setData(platform.DataMissing), extraGeneration: 1,
			want: view{
				"False/ReferencedDataNotReady 1 of 1 desired instances waiting for companion propagation",
				waitingForData,
				"False/ReferencedDataNotReady 1 of 1 desired instances waiting for companion propagation",
			},
		},
		"referenced-data-missing, with the error annotation": {
			tweaks: configMap, before: setData(platform.DataMissing), extraGeneration: 1,
			after: func(w *world, deployment, _ types.NamespacedName) {
				require.NoError(w.t, w.DataResolver.Annotate(w.ctx, deployment, platform.DataMissing))
				// The annotation wakes nobody, this condition does.
				require.NoError(w.t, w.DataResolver.Set(w.ctx, deployment, platform.DataResolving))
			},
			want: view{"False/SourceNotFound " + missing, waitingForData, "False/SourceNotFound " + missing},
		},
		"referenced-data-missing, with the deployment's condition": {
			tweaks: configMap, before: setData(platform.DataMissing), extraGeneration: 1,
			after: func(w *world, deployment, _ types.NamespacedName) {
				require.NoError(w.t, w.DataResolver.Set(w.ctx, deployment, platform.DataMissing))
			},
			want: view{"False/ReferencedDataNotReady " + missing, waitingForData, "False/ReferencedDataNotReady " + missing},
		},
		"provisioning":        {after: runs(platform.Provisioning), want: provisioningView},
		"ready":               {after: runs(platform.Running), want: availableView},
		"image-unavailable":   {after: runs(platform.ImageUnavailable), want: provisioningView},
		"crash-loop-kata":     {after: runs(platform.CrashLoop), want: provisioningView},
		"crash-loop-unikraft": {after: runs(platform.CrashLoop.By(platform.Unikraft)), want: provisioningView},
		"oom-killed":          {after: runs(platform.OOMKilled.By(platform.Unikraft)), want: provisioningView},
		"crash-with-detail":   {after: runs(platform.CrashLoop.By(platform.Unikraft).WithMessage(detail)), want: provisioningView},
		"stale-ready": {
			after: func(w *world, deployment, instance types.NamespacedName) {
				runs(platform.Running)(w, deployment, instance)
				w.untilInstance(instance, computeapi.ReadyCondition, "True/Available Instance is ready")
				w.Instance.Pause()
				require.NoError(w.t, w.Provider.Set(w.ctx, instance, platform.CrashLoop.By(platform.Unikraft)))
			},
			want: availableView,
		},
		"config-error":    {after: runs(platform.ConfigError), want: provisioningView},
		"pod-failed-kata": {after: runs(platform.PodFailed), want: provisioningView},
		"stopped":         {after: runs(platform.Stopped), want: provisioningView},
		"suspended": {
			after: func(w *world, deployment, instance types.NamespacedName) {
				runs(platform.Running)(w, deployment, instance)
				w.untilInstance(instance, computeapi.ReadyCondition, "True/Available Instance is ready")
				patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"true"}}}`, computeapi.SuspendedAnnotation)
				require.NoError(w.t, w.client.Patch(w.ctx, w.getDeployment(deployment), client.RawPatch(types.MergePatchType, patch)))
			},
			want: provisioningView,
		},
	}
}

// TestTheDeploymentViewOfEveryExample is the platform's whole lie, without
// Causeway: every example of section 8 gives exactly the view printed there.
func TestTheDeploymentViewOfEveryExample(t *testing.T) {
	data, err := os.ReadFile("testdata/examples.yaml")
	require.NoError(t, err)
	var instanceConditions map[string][]metav1.Condition
	require.NoError(t, yaml.UnmarshalStrict(data, &instanceConditions))

	all := start(t, func(o *platform.Options) { o.Networking, o.Initial = true, platform.Silent })
	seen := map[string]bool{}
	for name, tc := range examples() {
		t.Run(name, func(t *testing.T) {
			w := all.inNamespace(t)
			if tc.before != nil {
				tc.before(w)
			}
			workload := w.workload("web", 1, tc.tweaks...)
			deployment, instance := w.onlyDeployment(), w.instanceKeys(1)[0]
			if tc.after != nil {
				tc.after(w, deployment, instance)
			}

			exampleName, _, _ := strings.Cut(name, ",") // what follows is a variant
			seen[exampleName] = true
			want := expected(instanceConditions[exampleName], tc.extraGeneration)
			require.NotEmpty(t, want)
			w.eventually("the instance is as in section 8", func() error {
				return differs(want, w.getInstance(instance).Status.Conditions)
			})
			w.untilDeployment(deployment, computeapi.AvailableCondition, tc.want.available)
			w.untilDeployment(deployment, computeapi.ReplicasReadyCondition, tc.want.replicasReady)
			w.untilWorkload(workload, tc.want.workload)

			w.settleDeployment(instance)
			require.NoError(t, differs(want, w.getInstance(instance).Status.Conditions), "at rest")
			at := w.getDeployment(deployment).Status.Conditions
			require.Equal(t, tc.want.available, computeapi.Summary(at, computeapi.AvailableCondition), "at rest")
			require.Equal(t, tc.want.replicasReady, computeapi.Summary(at, computeapi.ReplicasReadyCondition), "at rest")
		})
	}
	for name := range instanceConditions {
		require.True(t, seen[name], "no test drives the example %q", name)
	}
}

// expected completes what section 8 prints.
func expected(conditions []metav1.Condition, extraGeneration int64) []metav1.Condition {
	var want []metav1.Condition
	for _, c := range conditions {
		if c.ObservedGeneration > 0 {
			c.ObservedGeneration += extraGeneration
		}
		want = append(want, c)
	}
	if computeapi.Condition(want, computeapi.QuotaGrantedCondition) == nil {
		v := platform.QuotaAvailable
		want = append(want, metav1.Condition{Type: computeapi.QuotaGrantedCondition, Status: v.Status, Reason: v.Reason, Message: v.Message})
	}
	return want
}

// differs compares conditions, whatever their order. Section 8 does not print
// when they changed, nor the generation for which quota was granted.
func differs(want, got []metav1.Condition) error {
	got = slices.Clone(got)
	for i := range got {
		if got[i].Reason == platform.QuotaAvailable.Reason {
			got[i].ObservedGeneration = 0
		}
	}
	diff := cmp.Diff(want, got,
		cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime"),
		cmpopts.SortSlices(func(a, b metav1.Condition) bool { return a.Type < b.Type }))
	if diff != "" {
		return fmt.Errorf("conditions (-want +got):\n%s", diff)
	}
	return nil
}
