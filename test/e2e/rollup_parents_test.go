package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

var (
	crdResource      = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	workloadResource = computeapi.GroupVersion.WithResource("workloads")
)

// Parents in odd states, written by hand on a plane where no platform runs.
// Everything of Causeway is on.
func TestParentsInOddStates(t *testing.T) {
	s := start(t, environment.Options{Statuspatch: 1})
	s.in("another of the same name", testRecreated)
	s.in("being deleted", testDeleting)
	s.in("an Instance being deleted", testDeletingInstance)
	s.in("more Instances than desired", testMoreThanDesired)
	s.in("two placements", testTwoPlacements)
	s.in("unknown fields", testUnknownFields)
	s.in("no Workloads at all", testWithoutWorkloads) // last: it takes the kind away
}

func noImage(n int) said {
	v := said{metav1.ConditionFalse, "ImageUnavailable", fmt.Sprintf("%d of %d instances could not pull their image.", n, n)}
	if n == 1 {
		v.Message = "1 of 1 instances could not pull its image."
	}
	return v
}

// A parent that is deleted and made again under the same name starts anew: the
// Instances of the former one, which are still there, are not its own.
func testRecreated(s *scene) {
	h := s.byHand()
	f := h.family("again", "main")
	old := h.instance(f.deployments[0], 0)
	h.status(f, 1)
	h.fails(old, "ConfigurationError", "of the former one")
	w, d, _ := h.says(f)
	require.Equal(s.t, w, d)
	require.Equal(s.t, "ConfigurationError", w.Reason)
	for _, o := range []client.Object{f.deployments[0], f.workload} {
		require.NoError(s.t, s.customer.Delete(s.ctx, o))
	}

	f = h.family("again", "main")
	i := h.instance(f.deployments[0], 1)
	h.status(f, 1)
	w, d, _ = h.says(f)
	assert.Equal(s.t, [2]said{provisioning, provisioning}, [2]said{w, d}, "nothing is known of the new one")
	h.fails(i, "ImageUnavailable", "The instance image could not be pulled")
	h.fails(old, "ConfigurationError", "still of the former one")
	w, d, _ = h.says(f)
	assert.Equal(s.t, [2]said{noImage(1), noImage(1)}, [2]said{w, d})
	s.atRest(patience)
}

// A parent that is being deleted is left alone; what others write passes.
func testDeleting(s *scene) {
	h := s.byHand()
	f := h.family("leaving", "main")
	i := h.instance(f.deployments[0], 0)
	h.status(f, 1)
	finalizer := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"finalizers":[%q]}}`, holdFinalizer))
	require.NoError(s.t, s.customer.Patch(s.ctx, f.workload, finalizer))
	require.NoError(s.t, s.customer.Delete(s.ctx, f.workload))
	before := get(s, "leaving", &computeapi.Workload{}).ResourceVersion
	h.fails(i, "ImageUnavailable", "")
	w, d, _ := h.says(f)
	assert.Equal(s.t, noImage(1), d, "its deployment is not being deleted")
	assert.Equal(s.t, before, get(s, "leaving", &computeapi.Workload{}).ResourceVersion, "not written: %v", w)
	h.writeWorkload(f.workload, noPlacement)
	w, _, p := h.says(f)
	assert.Equal(s.t, [2]said{noPlacement, noDeployment}, [2]said{w, p})
	s.atRest(patience)
	let := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	require.NoError(s.t, s.customer.Patch(s.ctx, f.workload, let))
}

// An Instance that is being deleted gives no reason and counts only while it is
// ready.
func testDeletingInstance(s *scene) {
	h := s.byHand()
	f := h.family("shrinking", "main")
	finalizer := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"finalizers":[%q]}}`, holdFinalizer))
	a, b := h.instance(f.deployments[0], 0), h.instance(f.deployments[0], 1)
	h.status(f, 2)
	h.fails(a, "ConfigurationError", "")
	h.fails(b, "ImageUnavailable", "")
	require.NoError(s.t, s.customer.Patch(s.ctx, a, finalizer))
	require.NoError(s.t, s.customer.Delete(s.ctx, a))
	s.within(promise, "the reason of the one being deleted to go", func() (bool, string) {
		w, d, _ := h.says(f)
		return w == noImage(1) && d == noImage(1), w.Message
	})
	h.ready(get(s, a.Name, a))
	_, d, _ := h.says(f)
	assert.Equal(s.t, "1/2 instances are ready; 1 could not pull its image", d.Message)
	s.atRest(patience)
}

func testMoreThanDesired(s *scene) {
	h := s.byHand()
	f := h.family("many", "main") // one is desired
	for n := range 3 {
		h.ready(h.instance(f.deployments[0], n))
	}
	d := get(s, f.deployments[0].Name, &computeapi.WorkloadDeployment{})
	d.Status.Conditions = []metav1.Condition{condition(computeapi.ReplicasReadyCondition, metav1.ConditionFalse, "QuotaExceeded", "of old")}
	d.Status.Replicas = 1
	require.NoError(s.t, h.writer.Status().Update(s.ctx, d))
	d = get(s, f.deployments[0].Name, d)
	assert.Equal(s.t, "3/3 instances are ready", saysOf(d.Status.Conditions, computeapi.AvailableCondition).Message)
	assert.Equal(s.t, said{metav1.ConditionTrue, "ReplicasAvailable", "3/1 replicas available"},
		saysOf(d.Status.Conditions, computeapi.ReplicasReadyCondition))
	s.atRest(patience)
}

func testTwoPlacements(s *scene) {
	h := s.byHand()
	f := h.family("two", "us", "eu")
	us, eu := h.instance(f.deployments[0], 0), h.instance(f.deployments[1], 0)
	h.status(f, 1)
	h.ready(us)
	h.fails(eu, "ImageUnavailable", "")
	w, _, p := h.says(f)
	assert.Equal(s.t, said{metav1.ConditionTrue, "AvailablePlacementFound",
		`At least one available placement was found; placement "eu" is not available: 1 of 1 instances could not pull its image.`}, w)
	assert.Equal(s.t, "At least one available deployment was found", p.Message)
	h.fails(us, "InstanceCrashing", "exit code 3")
	w, _, p = h.says(f)
	assert.Equal(s.t, said{metav1.ConditionFalse, "ImageUnavailable",
		"1 of 2 instances could not pull its image. 1 of 2 instances is repeatedly exiting and restarting."}, w)
	assert.Equal(s.t, said{metav1.ConditionFalse, "InstanceCrashing", "1 of 1 instances is repeatedly exiting and restarting: exit code 3."}, p)
	s.atRest(patience)
}

// What Causeway does not know of is still there after every kind of write of
// its own.
func testUnknownFields(s *scene) {
	h := s.byHand()
	admin, err := dynamic.NewForConfig(s.AdminConfig())
	require.NoError(s.t, err)
	// A newer platform has fields of its own in the entries of a status.
	const placements = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/placements/items"
	newer := `[{"op":"add","path":"` + placements + `/x-kubernetes-preserve-unknown-fields","value":true},` +
		`{"op":"add","path":"` + placements + `/properties/conditions/items/x-kubernetes-preserve-unknown-fields","value":true}]`
	_, err = admin.Resource(crdResource).Patch(s.ctx, "workloads.compute.datumapis.com", types.JSONPatchType, []byte(newer), metav1.PatchOptions{})
	require.NoError(s.t, err)

	f := h.family("newer", "main")
	i := h.instance(f.deployments[0], 0)
	h.status(f, 1)
	workloads := admin.Resource(workloadResource).Namespace(namespace)
	entry := func() (fields map[string]any, unknown any, condition map[string]any) {
		w, err := workloads.Get(s.ctx, "newer", metav1.GetOptions{})
		require.NoError(s.t, err)
		list, _, err := unstructured.NestedSlice(w.Object, "status", "placements")
		require.NoError(s.t, err)
		fields = list[0].(map[string]any)
		return fields, fields["surge"], fields["conditions"].([]any)[0].(map[string]any)
	}
	// Written over what is there, by a controller that knows them.
	write := func(message string) {
		fields, _, c := entry()
		fields["surge"] = map[string]any{"of": []any{int64(1), "two", nil, 1.5}}
		fields["replicas"], fields["locations"] = int64(7), []any{map[string]any{"name": "us"}}
		c["severity"], c["message"], c["reason"], c["status"] = "Info", message, noDeployment.Reason, "False"
		patch, err := json.Marshal(map[string]any{"status": map[string]any{"placements": []any{fields}, "gateway": map[string]any{"unknown": true}}})
		require.NoError(s.t, err)
		_, err = workloads.Patch(s.ctx, "newer", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		require.NoError(s.t, err)
	}
	s.waitFor("the newer schema to be served", func() (bool, string) {
		write(noDeployment.Message)
		_, unknown, _ := entry()
		return unknown != nil, "the field is pruned"
	})
	_, want, _ := entry()
	check := func(when string, reason string) {
		fields, unknown, c := entry()
		assert.Equal(s.t, want, unknown, when)
		assert.Equal(s.t, int64(7), fields["replicas"], when)
		assert.Equal(s.t, "Info", c["severity"], when)
		assert.Equal(s.t, reason, c["reason"], when)
		gateway, _, err := unstructured.NestedFieldCopy(get(s, "newer", s.plainWorkload()).Object, "status", "gateway")
		require.NoError(s.t, err)
		assert.Equal(s.t, map[string]any{"unknown": true}, gateway, when)
	}
	h.fails(i, "ImageUnavailable", "")
	check("after a request", "ImageUnavailable")
	write("what a controller says")
	check("after the overlay", "ImageUnavailable")
	s.StatusFront.SetOpen(false)
	write("what a controller says")
	s.within(promise, "the loop to repair it", func() (bool, string) {
		_, _, c := entry()
		return c["reason"] == "ImageUnavailable", fmt.Sprint(c)
	})
	check("after the loop", "ImageUnavailable")
	s.StatusFront.SetOpen(true)
	s.atRest(patience)
}

func (s *scene) plainWorkload() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(computeapi.GroupVersion.WithKind("Workload"))
	return o
}

// A plane to which deployments and Instances are copied and Workloads are not.
func testWithoutWorkloads(s *scene) {
	h := s.byHand()
	f := h.family("copied", "main")
	admin, err := dynamic.NewForConfig(s.AdminConfig())
	require.NoError(s.t, err)
	s.Sidecars[0].Kill()
	require.NoError(s.t, admin.Resource(crdResource).Delete(s.ctx, "workloads.compute.datumapis.com", metav1.DeleteOptions{}))
	// Discovery, by which a process that starts knows, hears of it last.
	disco, err := discovery.NewDiscoveryClientForConfig(s.AdminConfig())
	require.NoError(s.t, err)
	s.waitFor("Workloads to be gone", func() (bool, string) {
		_, err := admin.Resource(workloadResource).List(s.ctx, metav1.ListOptions{})
		if !apierrors.IsNotFound(err) {
			return false, "still served"
		}
		resources, err := disco.ServerResourcesForGroupVersion(computeapi.GroupVersion.String())
		require.NoError(s.t, err)
		for _, r := range resources.APIResources {
			if r.Name == workloadResource.Resource {
				return false, "still listed"
			}
		}
		return true, ""
	})
	_, err = s.StartSidecar(s.ctx)
	require.NoError(s.t, errors.Join(err, s.WaitActive(s.ctx)))

	i, d := h.instance(f.deployments[0], 0), f.deployments[0]
	h.writeDeployment(d, 1, provisioning)
	h.fails(i, "ImageUnavailable", "")
	assert.Equal(s.t, noImage(1), s.deploymentSays(d.Name), "right after the write")
	h.writeDeployment(d, 1, provisioning)
	assert.Equal(s.t, noImage(1), s.deploymentSays(d.Name), "over a controller's write")
	h.ready(i)
	assert.Equal(s.t, "1/1 instances are ready", s.deploymentSays(d.Name).Message)
	metrics, err := s.active().Metrics(s.ctx)
	require.NoError(s.t, err)
	assert.Zero(s.t, valueOf(s.t, metrics, `causeway_status_deferred_total{cause="missing_parent"}`), "nothing is missing here")
}
