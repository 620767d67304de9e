package statuspatch

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// stub is an API server of a few objects, for what a real one cannot be made to
// do on time: answer late, conflict, fail. What Causeway claims about the API
// server itself is proven on a real one, in the test module.
type stub struct {
	t      *testing.T
	server *httptest.Server

	mu      sync.Mutex
	objects map[string]map[string]any
	version int
	patches int
	// before runs ahead of each request, outside the lock; it may block, and its
	// answer, if not 0, is the status code sent.
	before func(r *http.Request) int
}

func newStub(t *testing.T) (*stub, *api) {
	s := &stub{t: t, objects: map[string]map[string]any{}, version: 100}
	s.server = httptest.NewServer(s)
	t.Cleanup(s.server.Close)
	a, err := newAPI(&rest.Config{Host: s.server.URL})
	require.NoError(t, err)
	return s, a
}

// put stores an object under its resource, as a writer who always wins.
func (s *stub) put(resource string, object map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	m := object["metadata"].(map[string]any)
	m["resourceVersion"] = strconv.Itoa(s.version)
	s.objects[m["namespace"].(string)+"/"+resource+"/"+m["name"].(string)] = object
}

func (s *stub) get(resource, name string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects["shop/"+resource+"/"+name]
}

// leave has connections refused from now on.
func (s *stub) leave() { s.server.Close() }

// hook sets what runs ahead of each request.
func (s *stub) hook(before func(*http.Request) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

func (s *stub) stored() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.patches
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A server notices that its client has gone only once the body is read.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	if before != nil {
		if code := before(r); code != 0 {
			status(w, code, "told to fail")
			return
		}
	}
	path := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/apis/compute.datumapis.com/v1alpha/namespaces/"), "/status")
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Count(path, "/") == 1 {
		items := []any{}
		for key, o := range s.objects {
			if strings.HasPrefix(key, path+"/") {
				items = append(items, o)
			}
		}
		answer(w, map[string]any{"apiVersion": groupVersion.String(), "kind": "InstanceList", "items": items})
		return
	}
	object, ok := s.objects[path]
	if !ok {
		status(w, http.StatusNotFound, path+" not found")
		return
	}
	if r.Method == http.MethodGet {
		answer(w, object)
		return
	}
	patch, err := jsonpatch.DecodePatch(body)
	require.NoError(s.t, err)
	stored, _ := json.Marshal(object)
	after, err := patch.Apply(stored)
	require.NoError(s.t, err, "%s on %s", body, stored)
	var patched map[string]any
	require.NoError(s.t, json.Unmarshal(after, &patched))
	m := patched["metadata"].(map[string]any)
	if m["resourceVersion"] != object["metadata"].(map[string]any)["resourceVersion"] {
		status(w, http.StatusConflict, "the object has been modified")
		return
	}
	s.version++
	s.patches++
	m["resourceVersion"] = strconv.Itoa(s.version)
	s.objects[path] = patched
	answer(w, patched)
}

func answer(w http.ResponseWriter, o any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(o)
}

func status(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	if code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	reasons := map[int]metav1.StatusReason{
		http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusConflict: metav1.StatusReasonConflict,
		http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests,
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reasons[code], Message: message,
	})
}

const epoch = "1970-01-01T00:00:00Z"

func conditionJSON(conditionType, status, reason, message string) map[string]any {
	return map[string]any{
		"type": conditionType, "status": status, "reason": reason, "message": message, "lastTransitionTime": epoch,
	}
}

func deploymentJSON(n int, replicas int, conditions ...any) map[string]any {
	return map[string]any{
		"apiVersion": groupVersion.String(), "kind": "WorkloadDeployment",
		"metadata": map[string]any{"namespace": "shop", "name": fmt.Sprintf("d%d", n), "uid": fmt.Sprintf("uid-d%d", n)},
		"spec": map[string]any{
			"workloadRef": map[string]any{"name": "api", "uid": "uid-w"}, "placementName": "us", "replicas": replicas,
		},
		"status": map[string]any{"replicas": replicas, "readyReplicas": 0, "conditions": conditions},
	}
}

func workloadJSON(conditions ...any) map[string]any {
	return map[string]any{
		"apiVersion": groupVersion.String(), "kind": "Workload",
		"metadata": map[string]any{"namespace": "shop", "name": "api", "uid": "uid-w"},
		"status":   map[string]any{"replicas": 1, "conditions": conditions},
	}
}

func instanceJSON(n, deployment int, conditions ...any) map[string]any {
	return map[string]any{
		"apiVersion": groupVersion.String(), "kind": "Instance",
		"metadata": map[string]any{
			"namespace": "shop", "name": fmt.Sprintf("i%d", n), "uid": fmt.Sprintf("uid-i%d", n), "resourceVersion": "50",
			"labels": map[string]any{"compute.datumapis.com/instance-index": strconv.Itoa(n)},
			"ownerReferences": []any{map[string]any{
				"apiVersion": groupVersion.String(), "kind": "WorkloadDeployment",
				"name": fmt.Sprintf("d%d", deployment), "uid": fmt.Sprintf("uid-d%d", deployment),
			}},
		},
		"status": map[string]any{"conditions": conditions},
	}
}

func provisioningJSON() map[string]any {
	return conditionJSON("Available", "False", "InstancesProvisioning", "Instances are being provisioned")
}

func crashingJSON() map[string]any {
	return conditionJSON("Ready", "False", "InstanceCrashing", "it exits")
}

func waitingJSON() map[string]any {
	return conditionJSON("Ready", "Unknown", "Provisioning", "Instance is provisioning")
}

// world is the status path over a stub, active since long ago.
type world struct {
	stub      *stub
	ledger    *ledger.Ledger
	tenure    *tenure
	writer    *writer
	instances *instances
	overlay   *overlay
	shell     *shell
	metrics   *metrics
	registry  *prometheus.Registry
	repaired  chan ledger.Parent
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, a := newStub(t)
	registry := prometheus.NewRegistry()
	m, err := newMetrics(registry)
	require.NoError(t, err)
	w := &world{stub: s, metrics: m, registry: registry, repaired: make(chan ledger.Parent, 1000)}
	w.tenure = newTenure(time.Now)
	w.tenure.epoch = time.Now().Add(-time.Hour)
	w.tenure.since.Store(1)
	w.tenure.renewed.Store(int64(100 * time.Hour)) // held for the length of any test
	w.ledger = ledger.New(nil)
	w.writer = &writer{
		api: a, ledger: w.ledger, tenure: w.tenure, metrics: m, replicasReady: true,
		now: time.Now, timeout: 10 * time.Second, ctx: t.Context(), lines: map[ledger.Parent]*line{},
	}
	t.Cleanup(w.writer.close)
	w.instances = &instances{
		ledger: w.ledger, writer: w.writer, metrics: m, now: time.Now,
		hasWorkloads: func() bool { return true },
		settle:       func(*ledger.Instance) {},
		repair:       func(p ledger.Parent) { w.repaired <- p },
	}
	w.overlay = &overlay{ledger: w.ledger, replicasReady: true, user: "causeway", now: time.Now, metrics: m}
	w.shell = &shell{tenure: w.tenure, metrics: m, budget: DefaultBudget}
	return w
}

// put stores a parent and has the watch deliver it.
func (w *world) put(t *testing.T, objects ...map[string]any) {
	t.Helper()
	for _, o := range objects {
		switch o["kind"] {
		case "WorkloadDeployment":
			w.stub.put(resourceDeployments, o)
			w.ledger.ObserveDeployment(readDeployment(decoded[deploymentObject](t, o)))
		case "Workload":
			w.stub.put(resourceWorkloads, o)
			w.ledger.ObserveWorkload(readWorkload(decoded[workloadObject](t, o)))
		case "Instance":
			w.stub.put(resourceInstances, o)
			w.ledger.ObserveInstance(readInstance(decoded[instanceObject](t, o)))
		}
	}
}

func decoded[T any](t *testing.T, o map[string]any) *T {
	t.Helper()
	into := new(T)
	require.NoError(t, unmarshal(encoded(t, o), into))
	return into
}

func encoded(t *testing.T, o any) []byte {
	t.Helper()
	raw, err := json.Marshal(o)
	require.NoError(t, err)
	return raw
}

// available is what the stored condition Available says.
func (w *world) available(t *testing.T, resource, name string) string {
	t.Helper()
	conditions := decoded[deploymentObject](t, w.stub.get(resource, name)).Status.Conditions
	for _, c := range conditions {
		if c.Type == conditionAvailable {
			return string(c.Status) + " " + c.Reason + ": " + c.Message
		}
	}
	return "no condition"
}
