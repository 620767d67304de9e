package deploy

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/install"
)

// An API server that has just started does not know a CRD's schema for up to 5 s, and answers a write that reaches the
// mutations of a policy with 503, whatever the failurePolicy says. With hold-reason installed only a write that would lose
// a reason may meet that.
func TestAYoungAPIServerRefusesOnlyWhatWouldLoseAReason(t *testing.T) {
	own, err := controlplane.Start(t.Context(), controlplane.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, own.Stop()) }()
	for _, dir := range []string{filepath.Join("..", "crds"), filepath.Join("testdata", "held")} {
		objects := rendered(t, dir)
		// The webhooks would only be in the way: nobody serves them.
		objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return strings.HasSuffix(o.GetKind(), "WebhookConfiguration") })
		require.NoError(t, install.Install(t.Context(), own.AdminConfig(), objects, install.Options{}))
	}
	r := as(t, own.AdminConfig()).Resource(resource("workloaddeployments")).Namespace(namespace)
	for name, first := range map[string]string{"plain": quota, "told": told} {
		var f map[string]any
		require.NoError(t, json.Unmarshal([]byte(sprintf(judged["WorkloadDeployment"].wrap, runtimeWith(addsNothing))), &f))
		_, err := r.Create(t.Context(), object("WorkloadDeployment", name, f), metav1.CreateOptions{})
		require.NoError(t, err)
		writeStatus(t, as(t, own.AdminConfig()), "WorkloadDeployment", name, counts("", first), metav1.UpdateOptions{})
	}
	write := func(name, condition string) (*unstructured.Unstructured, error) {
		patch := []byte(`[{"op":"replace","path":"/status/conditions/0","value":` + condition + `}]`)
		return r.Patch(t.Context(), name, types.JSONPatchType, patch, metav1.PatchOptions{}, "status")
	}

	own.StopAPIServer()
	require.NoError(t, own.StartAPIServer(t.Context()))
	refused := 0
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); ; <-tick.C {
		for _, c := range []string{stock, available, quota} {
			_, err := write("plain", c)
			require.NoError(t, err, "a write that loses no reason")
		}
		got, err := write("told", stock)
		if err == nil {
			// It may come before the server knows the policy at all, and then passes; what follows would show nothing.
			assert.Contains(t, []any{"InstanceCrashing", "InstancesProvisioning"}, reasonOf(t, got))
			break
		}
		refused++
		require.ErrorContains(t, err, "Resource kind compute.datumapis.com/v1alpha, Kind=WorkloadDeployment not found")
		require.True(t, time.Now().Before(deadline), "it does not end")
	}
	t.Logf("%d writes that would have lost a reason were refused meanwhile", refused)
}
