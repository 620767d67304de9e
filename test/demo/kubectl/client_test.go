package kubectl

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

const notFound = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"workloads \"api\" not found","code":404}`

const table = `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[
{"name":"Name","type":"string"},{"name":"Ready","type":"integer"},{"name":"Message","type":"string","priority":1}],
"rows":[{"cells":["api",3,"all is well"]},{"cells":["longer-name",null,""]}]}`

// answer is what the server is to say, once.
type answer struct {
	code    int
	body    string
	warning string
}

type call struct {
	method, uri, accept string
	body                map[string]any
}

// newClient returns a client of a server that gives these answers, in this
// order, and notes what it is asked.
func newClient(t *testing.T, files fstest.MapFS, answers ...answer) (*Client, *[]call) {
	t.Helper()
	calls := &[]call{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := call{method: r.Method, uri: r.URL.RequestURI(), accept: r.Header.Get("Accept")}
		if data, _ := io.ReadAll(r.Body); r.Method == http.MethodPost {
			assert.NoError(t, json.Unmarshal(data, &c.body))
		}
		a := answers[len(*calls)]
		*calls = append(*calls, c)
		w.Header().Set("Content-Type", "application/json")
		if a.warning != "" {
			w.Header().Add("Warning", `299 - "`+a.warning+`"`)
		}
		w.WriteHeader(a.code)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL}, files)
	require.NoError(t, err)
	return c, calls
}

const workloads = "/apis/compute.datumapis.com/v1alpha/namespaces/default/workloads"

var workloadFile = fstest.MapFS{"w.yaml": {Data: []byte("apiVersion: compute.datumapis.com/v1alpha\nkind: Workload\nmetadata: {name: api}\n")}}

func TestGetPrintsTheServersTable(t *testing.T) {
	c, calls := newClient(t, nil, answer{200, table, ""}, answer{200, table, "old version"})
	got, err := c.Run(t.Context(), "get workloads")
	require.NoError(t, err)
	assert.Equal(t, "NAME          READY\napi           3\nlonger-name   \n", got)
	got, err = c.Run(t.Context(), "get workload api -o wide")
	require.NoError(t, err)
	assert.Equal(t, "Warning: old version\nNAME          READY   MESSAGE\napi           3       all is well\nlonger-name           \n", got)
	assert.Equal(t, []call{{method: "GET", uri: workloads, accept: tableType}, {method: "GET", uri: workloads + "/api", accept: tableType}}, *calls)
}

func TestGetOfNothing(t *testing.T) {
	empty := answer{200, `{"kind":"Table","columnDefinitions":[{"name":"Name"}],"rows":[]}`, ""}
	c, _ := newClient(t, nil, empty, empty, answer{404, notFound, ""}, answer{200, `{"kind":"WorkloadList"}`, ""})
	for _, tc := range [][2]string{
		{"get workloads", "No resources found in default namespace.\n"},
		{"get runtimeclasses", "No resources found\n"},
		{"get workload api", "Error from server (NotFound): workloads \"api\" not found\n"},
		{"get workloads", "error: the server answered with kind \"WorkloadList\", not with a table\n"},
	} {
		got, err := c.Run(t.Context(), tc[0])
		require.NoError(t, err)
		assert.Equal(t, tc[1], got, tc[0])
	}
}

func TestApplyCreatesWithTheManifestInAnAnnotation(t *testing.T) {
	c, calls := newClient(t, workloadFile, answer{404, notFound, ""}, answer{201, `{}`, "mind the gap"})
	got, err := c.Run(t.Context(), "apply -f w.yaml")
	require.NoError(t, err)
	assert.Equal(t, "Warning: mind the gap\nworkload.compute.datumapis.com/api created\n", got)
	require.Len(t, *calls, 2)
	assert.Equal(t, workloads+"/api", (*calls)[0].uri)
	assert.Equal(t, workloads+"?fieldManager=kubectl-client-side-apply&fieldValidation=Strict", (*calls)[1].uri)
	assert.Equal(t, map[string]any{
		"apiVersion": "compute.datumapis.com/v1alpha", "kind": "Workload",
		"metadata": map[string]any{"name": "api", "namespace": "default", "annotations": map[string]any{
			"kubectl.kubernetes.io/last-applied-configuration": `{"apiVersion":"compute.datumapis.com/v1alpha","kind":"Workload",` +
				`"metadata":{"annotations":{},"name":"api","namespace":"default"}}` + "\n",
		}},
	}, (*calls)[1].body)
}

func TestDelete(t *testing.T) {
	c, calls := newClient(t, nil, answer{200, `{}`, ""}, answer{200, `{}`, ""})
	got, err := c.Run(t.Context(), "delete workload api")
	require.NoError(t, err)
	assert.Equal(t, "workload.compute.datumapis.com \"api\" deleted from default namespace\n", got)
	got, err = c.Run(t.Context(), "delete runtimeclass web")
	require.NoError(t, err)
	assert.Equal(t, "runtimeclass.compute.datumapis.com \"web\" deleted\n", got)
	assert.Equal(t, "/apis/compute.datumapis.com/v1alpha/runtimeclasses/web", (*calls)[1].uri)
}

func TestWhatIsNotKnownHereIsAnErrorAndNoOutput(t *testing.T) {
	c, _ := newClient(t, workloadFile, answer{200, `{}`, ""})
	for command, want := range map[string]string{
		"describe workload api":   "kubectl describe workload api: not a command that is known here",
		"apply -f w.yaml -o wide": "kubectl apply -f w.yaml -o wide: not a command that is known here",
		"get pods":                `kubectl get pods: the server doesn't have a resource type "pods"`,
		"apply -f none.yaml":      "kubectl apply -f none.yaml: open none.yaml: file does not exist",
		"apply -f w.yaml":         `kubectl apply -f w.yaml: Workload "api" is there already; applying a change is not known here`,
	} {
		got, err := c.Run(t.Context(), command)
		assert.EqualError(t, err, want)
		assert.Empty(t, got)
	}
}
