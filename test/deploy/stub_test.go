package deploy

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// stub is a webhook server that allows everything and notes the paths it was asked on.
type stub struct {
	url string
	ca  []byte

	mu    sync.Mutex
	paths []string
}

func newStub(t *testing.T) *stub {
	t.Helper()
	s := &stub{}
	server := httptest.NewUnstartedServer(s)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	s.url = server.URL
	s.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return s
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.paths = append(s.paths, r.URL.Path)
	s.mu.Unlock()
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	review.Request = nil
	_ = json.NewEncoder(w).Encode(review)
}

// asked returns the paths since the last call.
func (s *stub) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	paths := s.paths
	s.paths = nil
	return paths
}

// inForce returns when the API server asks the stub wherever objects say so: it hears of a configuration a moment after it
// is stored, and of each kind of configuration by itself.
func (s *stub) inForce(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	asks := func(path string, write func() error) {
		t.Helper()
		waitUntil(t, path+" to be asked", func() (bool, string) {
			err := write()
			return slices.Contains(s.asked(), path), sprintf("%v", err)
		})
	}
	dryUpdate := metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}
	if has(objects, "ValidatingWebhookConfiguration", "causeway-webhook") {
		asks(judged["Workload"].path, func() error { return judge(t.Context(), admin(t)) })
	}
	if has(objects, "ValidatingWebhookConfiguration", "causeway-status") {
		made(t, "Instance", "in-force")
		asks("/validate-instances-status", func() error {
			writeStatus(t, admin(t), "Instance", "in-force", `{"conditions":[`+notReady+`]}`, dryUpdate)
			return nil
		})
	}
	if has(objects, "MutatingWebhookConfiguration", "causeway-overlay") {
		made(t, "WorkloadDeployment", "in-force")
		asks("/mutate-workloaddeployments-status", func() error {
			writeStatus(t, admin(t), "WorkloadDeployment", "in-force", counts("", stock), dryUpdate)
			return nil
		})
	}
	s.asked()
}
