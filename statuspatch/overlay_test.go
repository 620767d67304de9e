package statuspatch

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// applied is the object as the API server would store it after the response.
func applied(t *testing.T, req admission.Request, response admission.Response) map[string]any {
	t.Helper()
	require.NoError(t, response.Complete(req))
	raw := req.Object.Raw
	if len(response.Patch) > 0 {
		patch, err := jsonpatch.DecodePatch(response.Patch)
		require.NoError(t, err)
		raw, err = patch.Apply(raw)
		require.NoError(t, err)
	}
	var o map[string]any
	require.NoError(t, json.Unmarshal(raw, &o))
	return o
}

func conditionsOf(o map[string]any) []any {
	status, _ := o["status"].(map[string]any)
	list, _ := status["conditions"].([]any)
	return list
}

func managed(o map[string]any, by string) map[string]any {
	o["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{"manager": by, "time": epoch}}
	return o
}

const (
	longAgo = "2026-01-01T00:00:00Z"
	later   = "2026-01-02T00:00:00Z"
)

func dated(condition map[string]any, at string) map[string]any {
	condition = maps.Clone(condition)
	condition["lastTransitionTime"] = at
	return condition
}

func with(condition map[string]any, member string, value any) map[string]any {
	condition = maps.Clone(condition)
	condition[member] = value
	return condition
}

func crashingSummary(at string) map[string]any {
	return dated(conditionJSON("Available", "False", "InstanceCrashing", "1 of 1 instances is repeatedly exiting and restarting: it exits."), at)
}

func TestOverlayOfADeployment(t *testing.T) {
	foreign := conditionJSON("Foreign", "True", "Other", "stays")
	foreign["unknown"] = 1.50
	network := conditionJSON("Available", "False", "RuntimeClassNotServed", "No cell in us serves it")
	cases := map[string]struct {
		// instances is what the ledger holds; one that crashes if nil.
		instance map[string]any
		old      map[string]any
		incoming map[string]any
		user     string

		want        []any
		wantOutcome outcome
		// wantOwner is who the managed fields name in the end.
		wantOwner string
	}{
		"a lossy write over a stored reason becomes a true no-op": {
			old:      deploymentJSON(1, 1, crashingSummary(longAgo), foreign),
			incoming: deploymentJSON(1, 1, dated(provisioningJSON(), later), foreign),
			want:     []any{crashingSummary(longAgo), foreign}, wantOutcome: outcomeApplied, wantOwner: "old",
		},
		"a member of the condition that only the writer knows is kept": {
			old:      deploymentJSON(1, 1, crashingSummary(longAgo)),
			incoming: deploymentJSON(1, 1, with(dated(provisioningJSON(), later), "severity", "Info")),
			want:     []any{with(crashingSummary(longAgo), "severity", "Info")}, wantOutcome: outcomeApplied, wantOwner: "incoming",
		},
		"and one that the writer does not know stays": {
			old:      deploymentJSON(1, 1, with(crashingSummary(longAgo), "severity", "Info")),
			incoming: deploymentJSON(1, 1, dated(provisioningJSON(), later)),
			want:     []any{with(crashingSummary(longAgo), "severity", "Info")}, wantOutcome: outcomeApplied, wantOwner: "old",
		},
		"so does one that moves the condition to the end of the list": {
			old:      deploymentJSON(1, 1, crashingSummary(longAgo), foreign),
			incoming: deploymentJSON(1, 1, foreign, dated(provisioningJSON(), later)),
			want:     []any{crashingSummary(longAgo), foreign}, wantOutcome: outcomeApplied, wantOwner: "old",
		},
		"so does one that drops the condition": {
			old:      deploymentJSON(1, 1, foreign, crashingSummary(longAgo)),
			incoming: deploymentJSON(1, 1, foreign),
			want:     []any{foreign, crashingSummary(longAgo)}, wantOutcome: outcomeApplied, wantOwner: "old",
		},
		"a write that says something new besides is stored with the reason, under its own manager": {
			old:      deploymentJSON(1, 1, crashingSummary(longAgo)),
			incoming: deploymentJSON(1, 1, dated(provisioningJSON(), later), foreign),
			want:     []any{crashingSummary(longAgo), foreign}, wantOutcome: outcomeApplied, wantOwner: "incoming",
		},
		"the first status ever written carries the reason": {
			old:      func() map[string]any { d := deploymentJSON(1, 1); delete(d, "status"); return d }(),
			incoming: deploymentJSON(1, 1, dated(provisioningJSON(), later)),
			want:     []any{crashingSummary(later)}, wantOutcome: outcomeApplied, wantOwner: "incoming",
		},
		"a base of rank 8 wins as it stands while it lasts": {
			old:      deploymentJSON(1, 1, crashingSummary(longAgo)),
			incoming: deploymentJSON(1, 1, dated(network, later)),
			want:     []any{dated(network, longAgo)}, wantOutcome: outcomeApplied, wantOwner: "incoming",
		},
		"an incoming True over a stored True is never turned into False": {
			old:      deploymentJSON(1, 1, dated(availableJSON(), longAgo)),
			incoming: deploymentJSON(1, 1, dated(availableJSON(), later)),
			want:     []any{dated(availableJSON(), later)}, wantOutcome: outcomeUnchanged, wantOwner: "incoming",
		},
		"an incoming True over a stored False moves nothing": {
			old:      deploymentJSON(1, 1, crashingSummary(longAgo)),
			incoming: deploymentJSON(1, 1, dated(availableJSON(), later)),
			want:     []any{crashingSummary(longAgo)}, wantOutcome: outcomeApplied, wantOwner: "old",
		},
		"an incoming False while an Instance is ready becomes True": {
			instance: instanceJSON(0, 1, readyJSON()),
			old:      deploymentJSON(1, 1, dated(availableJSON(), longAgo)),
			incoming: deploymentJSON(1, 1, dated(provisioningJSON(), later)),
			want:     []any{dated(availableJSON(), longAgo)}, wantOutcome: outcomeApplied, wantOwner: "old",
		},
		"Causeway's own write passes": {
			old:      deploymentJSON(1, 1, crashingSummary(longAgo)),
			incoming: deploymentJSON(1, 1, dated(provisioningJSON(), later)),
			user:     "causeway",
			want:     []any{dated(provisioningJSON(), later)}, wantOutcome: outcomeUnchanged, wantOwner: "incoming",
		},
		"a carried deployment's status passes": {
			old:      deploymentJSON(1, 2, crashingSummary(longAgo)),
			incoming: deploymentJSON(1, 2, dated(provisioningJSON(), later)),
			want:     []any{dated(provisioningJSON(), later)}, wantOutcome: outcomeUnchanged, wantOwner: "incoming",
		},
		"ReplicasReady is corrected only where it is present": {
			old: deploymentJSON(1, 1, crashingSummary(longAgo)),
			incoming: deploymentJSON(1, 1, dated(provisioningJSON(), later),
				dated(conditionJSON("ReplicasReady", "True", "ReplicasAvailable", "0/1 replicas available"), later)),
			want: []any{crashingSummary(longAgo),
				dated(conditionJSON("ReplicasReady", "False", "InstanceCrashing", "0/1 replicas available"), now)},
			wantOutcome: outcomeApplied, wantOwner: "incoming",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			at, err := time.Parse(time.RFC3339, now)
			require.NoError(t, err)
			w.overlay.now = func() time.Time { return at }
			if tc.instance == nil {
				tc.instance = instanceJSON(0, 1, crashingJSON())
			}
			w.put(t, tc.instance)
			req := reviewOf(t, managed(tc.old, "old"), managed(tc.incoming, "incoming"))
			if tc.user != "" {
				req.UserInfo.Username = tc.user
			}
			response, got := w.overlay.deployment(t.Context(), req)
			assert.True(t, response.Allowed)
			assert.Equal(t, tc.wantOutcome, got)
			stored := applied(t, req, response)
			if diff := cmp.Diff(tc.want, conditionsOf(stored)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			owner := stored["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)["manager"]
			assert.Equal(t, tc.wantOwner, owner)
		})
	}
}

const now = "2026-03-03T00:00:00Z"

func withPlacements(w map[string]any, placements ...any) map[string]any {
	w["status"].(map[string]any)["placements"] = placements
	return w
}

func placementJSON(name string, conditions ...any) map[string]any {
	return map[string]any{"name": name, "readyReplicas": 7.0, "unknown": "stays", "conditions": conditions}
}

func TestOverlayOfAWorkload(t *testing.T) {
	w := newWorld(t)
	w.put(t, deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	lossy := dated(conditionJSON("Available", "False", "NoAvailableDeployments", "No available deployments were found for the placement"), later)
	other := placementJSON("eu", lossy)

	req := reviewOf(t,
		managed(withPlacements(workloadJSON(crashingSummary(longAgo)), placementJSON("eu", dated(lossy, later)), placementJSON("us", crashingSummary(longAgo))), "old"),
		managed(withPlacements(workloadJSON(dated(provisioningJSON(), later)), other, placementJSON("us", lossy)), "incoming"))
	response, got := w.overlay.workload(t.Context(), req)
	assert.Equal(t, outcomeApplied, got)
	stored := applied(t, req, response)
	want := decodedTree(t, managed(withPlacements(workloadJSON(crashingSummary(longAgo)), other, placementJSON("us", crashingSummary(longAgo))), "old"))
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("the whole object (-want +got):\n%s", diff)
	}
}

func decodedTree(t *testing.T, o any) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, json.Unmarshal(encoded(t, o), &out))
	return out
}

// Whatever the overlay is sent, it allows, and what it does not understand
// passes as it is.
func TestOverlayLetsPassWhatItDoesNotUnderstand(t *testing.T) {
	cases := map[string]struct{ old, incoming string }{
		"nothing at all":          {"", ""},
		"no JSON":                 {"{}", "}{"},
		"another kind":            {`{"kind":"Pod"}`, `{"kind":"Pod"}`},
		"conditions of a number":  {`{"kind":"WorkloadDeployment","status":{"conditions":1}}`, `{"kind":"WorkloadDeployment","status":{"conditions":1}}`},
		"a status that is a list": {`{"kind":"WorkloadDeployment","status":[]}`, `{"kind":"WorkloadDeployment","status":[]}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			req := reviewOf(t, map[string]any{}, map[string]any{})
			req.OldObject.Raw, req.Object.Raw = []byte(tc.old), []byte(tc.incoming)
			for _, review := range []reviewer{w.overlay.deployment, w.overlay.workload} {
				response, got := review(t.Context(), req)
				assert.True(t, response.Allowed)
				assert.Empty(t, response.Patches)
				assert.Equal(t, outcomeUndecodable, got)
			}
		})
	}
}
