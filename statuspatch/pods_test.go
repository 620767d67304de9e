package statuspatch

import (
	"net/http"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

const evictedSentence = `its Pod was evicted from its node. The node says: "low on memory".`

// evictedPod is the Pod of the Instance web-0 of the UID i1.
func evictedPod() *corev1.Pod {
	yes := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: "p1", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "compute.datumapis.com/v1alpha", Kind: "Instance", Name: "web-0", UID: "i1", Controller: &yes}}},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "low on memory"},
	}
}

// podInstance is the Instance with foreign members all over.
func podInstance(uid, version string, conditions ...any) map[string]any {
	return map[string]any{"apiVersion": "compute.datumapis.com/v1alpha", "kind": "Instance",
		"metadata": map[string]any{"namespace": "shop", "name": "web-0", "uid": uid, "resourceVersion": version,
			"managedFields": []any{map[string]any{"manager": "before"}}},
		"status": map[string]any{"suspended": false, "conditions": conditions}}
}

// newTestPods observe Pods on an API server; the process has been active for a
// while.
func newTestPods(t *testing.T, a *api) *pods {
	t.Helper()
	started := time.Now().Add(-time.Hour)
	clock := started
	tenure := newTenure(func() time.Time { return clock })
	tenure.begin()
	clock = started.Add(time.Minute)
	tenure.renewed.Store(tenure.elapsed())
	p, err := newPods(a, tenure, "causeway", ledger.New(nil), Options{Logger: logr.Discard()})
	require.NoError(t, err)
	t.Cleanup(p.queue.ShutDown)
	return p
}

func TestAClaimOfAProviderIsCorrected(t *testing.T) {
	stored := dated(conditionJSON("Available", "False", "Disrupted", evictedSentence), longAgo)
	stored["unknown"] = "stays"
	claimed := dated(conditionJSON("Available", "True", "Available", "Instance is available"), later)
	programmed := dated(conditionJSON("Programmed", "True", "Programmed", ""), longAgo)
	suspended := dated(conditionJSON("Available", "False", "Suspended", "Instance is suspended and not serving traffic."), later)

	for name, tc := range map[string]struct {
		user          string
		old, incoming map[string]any
		want          []any
		result        outcome
		noOp          bool
	}{
		"a claim over what is stored stores nothing": {
			old: podInstance("i1", "5", programmed, stored), incoming: podInstance("i1", "5", claimed, programmed),
			want: []any{programmed, stored}, result: outcomeApplied, noOp: true},
		"what is stored passes": {
			old: podInstance("i1", "5", stored), incoming: podInstance("i1", "5", stored),
			want: []any{stored}, result: outcomeApplied, noOp: true},
		"a suspension passes": {
			old: podInstance("i1", "5", stored), incoming: podInstance("i1", "5", suspended),
			want: []any{suspended}, result: outcomeUnchanged},
		"another Instance of the name passes": {
			old: podInstance("i2", "5", stored), incoming: podInstance("i2", "5", claimed),
			want: []any{claimed}, result: outcomeUnchanged},
		"Causeway's own patch passes": {user: "causeway",
			old: podInstance("i1", "5", stored), incoming: podInstance("i1", "5", claimed),
			want: []any{claimed}, result: outcomeUnchanged},
		"who drops the condition may": {
			old: podInstance("i1", "5", programmed, stored), incoming: podInstance("i1", "5", programmed),
			want: []any{programmed}, result: outcomeUnchanged},
	} {
		t.Run(name, func(t *testing.T) {
			_, a := newStub(t)
			p := newTestPods(t, a)
			p.store.ObservePod(evictedPod())
			managed(tc.incoming, "provider")
			req := reviewOf(t, tc.old, tc.incoming)
			req.UserInfo.Username = tc.user
			response, result := p.review(t.Context(), req)
			assert.True(t, response.Allowed)
			assert.Equal(t, tc.result, result)
			got := applied(t, req, response)
			assert.Equal(t, tc.want, conditionsOf(got))
			if tc.noOp {
				assert.Equal(t, tc.old["metadata"], got["metadata"], "managed fields are those stored")
				assert.Equal(t, tc.old["status"], got["status"])
			}
		})
	}
}

func TestGarbageOfAnInstancePasses(t *testing.T) {
	_, a := newStub(t)
	p := newTestPods(t, a)
	for _, raw := range []string{``, `null`, `{}`, `{"kind":"Pod"}`, `{"kind":"Instance","metadata":{"name":"x"},"status":{"conditions":7}}`} {
		var req admission.Request
		req.OldObject.Raw, req.Object.Raw = []byte(raw), []byte(raw)
		response, result := p.review(t.Context(), req)
		assert.True(t, response.Allowed, raw)
		assert.Empty(t, response.Patches, raw)
		assert.Equal(t, outcomeUndecodable, result, raw)
	}
}

func TestAnInstanceIsPatchedOnce(t *testing.T) {
	stub, a := newStub(t)
	p := newTestPods(t, a)
	claimed := dated(conditionJSON("Available", "True", "Available", "Instance is available"), longAgo)
	claimed["unknown"] = "stays"
	programmed := dated(conditionJSON("Programmed", "True", "Programmed", ""), longAgo)
	stub.put("instances", podInstance("i1", "", programmed, claimed))
	observe := func() {
		o := new(instanceObject)
		require.NoError(t, a.get(t.Context(), resourceInstances, "shop", "web-0", o))
		p.store.ObserveInstance(observedInstance(o))
	}
	observe()
	name := types.NamespacedName{Namespace: "shop", Name: "web-0"}
	p.look(t.Context(), name)
	assert.Zero(t, stub.patches, "without a Pod nothing is written")

	p.store.ObservePod(evictedPod())
	p.look(t.Context(), name)
	p.look(t.Context(), name)
	assert.Equal(t, 1, stub.patches, "its own answer is known without the watch")
	list := conditionsOf(stub.get("instances", "web-0"))
	require.Len(t, list, 2)
	got := list[1].(map[string]any)
	assert.Equal(t, "False", got["status"])
	assert.Equal(t, evictedSentence, got["message"])
	assert.Equal(t, "stays", got["unknown"])
	assert.Equal(t, programmed, list[0])

	stub.before = func(r *http.Request) int {
		if r.Method == http.MethodPatch {
			return http.StatusInternalServerError
		}
		return 0
	}
	up := evictedPod()
	up.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "app", Ready: true,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}
	p.store.ObservePod(up)
	p.look(t.Context(), name)
	assert.Equal(t, 1, p.queue.NumRequeues(name), "a patch that failed is tried again")
	stub.before = nil
	p.look(t.Context(), name)
	assert.Equal(t, "Instance is available", conditionsOf(stub.get("instances", "web-0"))[1].(map[string]any)["message"])
	assert.Zero(t, p.queue.NumRequeues(name))

	// A standby writes nothing.
	p.tenure.renewed.Store(1)
	p.store.ObservePod(evictedPod())
	before := stub.patches
	p.look(t.Context(), name)
	assert.Equal(t, before, stub.patches)
	if v, _ := p.store.Judge(name, "i1"); v.Standing != podstate.Failing {
		t.Errorf("it knows all the same: %+v", v)
	}
}
