package deploy

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// condition is one entry of a condition list, in JSON.
func condition(kind, status, reason, message string) string {
	data, err := json.Marshal(map[string]any{
		"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-01-01T00:00:00Z",
	})
	if err != nil {
		panic(err)
	}
	return string(data)
}

var (
	notReady = condition("Ready", "False", "InstanceCrashing", "it crashes")
	isReady  = condition("Ready", "True", "Available", "Instance is ready")
)

// writeStatus replaces the status of an object by a full update, as the platform's controllers do, and returns what was
// stored.
func writeStatus(t *testing.T, c dynamic.Interface, kind, name, status string, options metav1.UpdateOptions) *unstructured.Unstructured {
	t.Helper()
	r := c.Resource(resource(judged[kind].resource)).Namespace(namespace)
	o, err := r.Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	var s any
	require.NoError(t, json.Unmarshal([]byte(status), &s))
	o.Object["status"] = s
	stored, err := r.UpdateStatus(t.Context(), o, options)
	require.NoError(t, err)
	return stored
}

// made creates a minimal object for the length of a test.
func made(t *testing.T, kind, name string) {
	t.Helper()
	var f map[string]any
	require.NoError(t, json.Unmarshal([]byte(sprintf(judged[kind].wrap, runtimeWith(addsNothing))), &f))
	_, err := admin(t).Resource(resource(judged[kind].resource)).Namespace(namespace).Create(t.Context(), object(kind, name, f), metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { remove(t, resource(judged[kind].resource), name) })
}

func TestWhichInstanceWritesAreSeen(t *testing.T) {
	s := newStub(t)
	deployed(t, overlay("status-only"), s)
	dryRun := metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}
	for name, tc := range map[string]struct {
		before, after string
		options       metav1.UpdateOptions
		want          bool
	}{
		"a condition changes":          {before: `{"conditions":[` + isReady + `]}`, after: `{"conditions":[` + notReady + `]}`, want: true},
		"conditions appear":            {before: `{"conditions":[]}`, after: `{"conditions":[` + notReady + `]}`, want: true},
		"conditions go":                {before: `{"conditions":[` + notReady + `]}`, after: `{"suspended":false}`, want: true},
		"conditions become null":       {before: `{"conditions":[` + notReady + `]}`, after: `{"conditions":null}`, want: true},
		"null stays null":              {before: `{"conditions":null}`, after: `{"conditions":null,"suspended":true}`},
		"only something else changes":  {before: `{"conditions":[` + notReady + `]}`, after: `{"conditions":[` + notReady + `],"suspended":true}`},
		"nothing changes":              {before: `{"conditions":[` + notReady + `]}`, after: `{"conditions":[` + notReady + `]}`},
		"a dry run is seen and marked": {before: `{"conditions":[` + isReady + `]}`, after: `{"conditions":[` + notReady + `]}`, options: dryRun, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			id := uniqueName(t)
			made(t, "Instance", id)
			writeStatus(t, admin(t), "Instance", id, tc.before, metav1.UpdateOptions{})
			s.asked()
			writeStatus(t, admin(t), "Instance", id, tc.after, tc.options)
			if tc.want {
				assert.Equal(t, []string{"/validate-instances-status"}, s.asked())
			} else {
				assert.Empty(t, s.asked())
			}
		})
	}
}

func TestTheOverlaySeesAllWritersButCauseway(t *testing.T) {
	s := newStub(t)
	deployed(t, overlay("status-only"), s)
	for kind, path := range map[string]string{
		"Workload":           "/mutate-workloads-status",
		"WorkloadDeployment": "/mutate-workloaddeployments-status",
	} {
		t.Run(kind, func(t *testing.T) {
			id := uniqueName(t)
			made(t, kind, id)
			s.asked()
			writeStatus(t, admin(t), kind, id, counts(kind, condition("Available", "False", "InstancesProvisioning", "x")), metav1.UpdateOptions{})
			assert.Equal(t, []string{path}, s.asked())

			patch := []byte(`[{"op":"replace","path":"/status/conditions/0/message","value":"y"}]`)
			_, err := causeway(t).Resource(resource(judged[kind].resource)).Namespace(namespace).
				Patch(t.Context(), id, "application/json-patch+json", patch, metav1.PatchOptions{FieldManager: "causeway"}, "status")
			require.NoError(t, err)
			assert.Empty(t, s.asked(), "Causeway's own write")
		})
	}
}

// counts is a status with the numbers the schema requires.
func counts(kind, conditions string, placements ...string) string {
	s := `{"replicas":1,"currentReplicas":0,"updatedReplicas":0,"desiredReplicas":1,"readyReplicas":0,"conditions":[` + conditions + `]`
	if kind == "Workload" {
		s += `,"deployments":1`
		if len(placements) > 0 {
			s += `,"placements":[`
			for i, p := range placements {
				if i > 0 {
					s += ","
				}
				s += p
			}
			s += `]`
		}
	}
	return s + `}`
}
