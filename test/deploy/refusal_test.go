package deploy

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// runtime is a sandbox of one container with the given security context.
func runtimeWith(securityContext string) string {
	return `{"class":"general-purpose","resources":{},"sandbox":{"containers":[{"name":"app","image":"example.com/app:1"` + securityContext + `}]}}`
}

const (
	addsNothing = ``
	addsOne     = `,"securityContext":{"capabilities":{"add":["NET_ADMIN"]}}`
	addsEmpty   = `,"securityContext":{"capabilities":{"add":[]}}`
	dropsOnly   = `,"securityContext":{"capabilities":{"drop":["ALL"]}}`
	noCaps      = `,"securityContext":{"allowPrivilegeEscalation":false}`
	nullAdd     = `,"securityContext":{"capabilities":{"add":null,"drop":["ALL"]}}`
	nullCaps    = `,"securityContext":{"capabilities":null}`
	nullContext = `,"securityContext":null`
)

var judged = map[string]struct{ resource, path, wrap string }{
	"Workload":           {"workloads", "/validate-compute-datumapis-com-v1alpha-workload", `{"spec":{"template":{"spec":{"runtime":%s,"networkInterfaces":[{"network":{"name":"default"}}]}},"placements":[{"name":"us","locations":[{"name":"us-1"}],"scaleSettings":{"minReplicas":1}}]}}`},
	"WorkloadDeployment": {"workloaddeployments", "/validate-compute-datumapis-com-v1alpha-workloaddeployment", `{"spec":{"workloadRef":{"name":"w","uid":"u"},"placementName":"us","locationRef":{"name":"us-1"},"scaleSettings":{"minReplicas":1},"template":{"spec":{"runtime":%s,"networkInterfaces":[{"network":{"name":"default"}}]}}}}`},
	"Instance":           {"instances", "/validate-compute-datumapis-com-v1alpha-instance", `{"spec":{"runtime":%s,"networkInterfaces":[{"network":{"name":"default"}}]}}`},
}

func TestWhatIsJudged(t *testing.T) {
	s := newStub(t)
	deployed(t, overlay("refusal-only"), s)
	for kind, k := range judged {
		for name, tc := range map[string]struct {
			stored, sent string // security contexts; no stored one: a create
			create       bool
			patch        string // or any other change
			want         bool
		}{
			"create that adds":                {create: true, sent: addsOne, want: true},
			"create that adds nothing":        {create: true, sent: addsNothing},
			"create with an empty list":       {create: true, sent: addsEmpty},
			"create that only drops":          {create: true, sent: dropsOnly},
			"create without capabilities":     {create: true, sent: noCaps},
			"create with a null list":         {create: true, sent: nullAdd},
			"create with null capabilities":   {create: true, sent: nullCaps},
			"create with a null context":      {create: true, sent: nullContext},
			"update to add":                   {stored: addsNothing, sent: addsOne, want: true},
			"update to drop what was added":   {stored: addsOne, sent: dropsOnly},
			"label of what adds":              {stored: addsOne, patch: `{"metadata":{"labels":{"a":"b"}}}`},
			"finalizer of what adds":          {stored: addsOne, patch: `{"metadata":{"finalizers":["example.com/x"]}}`},
			"finalizer removed from the same": {stored: addsOne, patch: `{"metadata":{"finalizers":null}}`},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				r := admin(t).Resource(resource(k.resource)).Namespace(namespace)
				id := uniqueName(t)
				fields := func(securityContext string) map[string]any {
					var f map[string]any
					require.NoError(t, json.Unmarshal([]byte(sprintf(k.wrap, runtimeWith(securityContext))), &f))
					return f
				}
				defer remove(t, resource(k.resource), id)
				s.asked()
				if tc.create {
					_, err := r.Create(t.Context(), object(kind, id, fields(tc.sent)), metav1.CreateOptions{})
					if err != nil && !tc.want {
						t.Logf("answered by the schema before any webhook: %v", err)
					}
				} else {
					stored, err := r.Create(t.Context(), object(kind, id, fields(tc.stored)), metav1.CreateOptions{})
					require.NoError(t, err)
					s.asked()
					if tc.patch == "" {
						next := object(kind, id, fields(tc.sent))
						next.SetResourceVersion(stored.GetResourceVersion())
						_, err = r.Update(t.Context(), next, metav1.UpdateOptions{})
					} else {
						_, err = r.Patch(t.Context(), id, types.MergePatchType, []byte(tc.patch), metav1.PatchOptions{})
					}
					require.NoError(t, err)
				}
				if tc.want {
					assert.Equal(t, []string{k.path}, s.asked())
				} else {
					assert.Empty(t, s.asked())
				}
			})
		}
	}
}

// With nobody serving, a Workload that adds is refused and everything else goes through.
func TestWithNobodyServing(t *testing.T) {
	deployed(t, overlay("refusal-only"), nil)
	eventually(t, "the API server knows the webhook", func() bool { return judge(t.Context(), admin(t)) != nil })
	for kind, k := range judged {
		t.Run(kind, func(t *testing.T) {
			r := admin(t).Resource(resource(k.resource)).Namespace(namespace)
			for name, securityContext := range map[string]string{"plain": addsNothing, "adds": addsOne} {
				var f map[string]any
				require.NoError(t, json.Unmarshal([]byte(sprintf(k.wrap, runtimeWith(securityContext))), &f))
				id := "nobody-" + name
				defer remove(t, resource(k.resource), id)
				_, err := r.Create(t.Context(), object(kind, id, f), metav1.CreateOptions{})
				if kind == "Workload" && name == "adds" {
					require.ErrorContains(t, err, "workloads.capabilities.causeway.dev")
				} else {
					require.NoError(t, err)
				}
			}
		})
	}
}
