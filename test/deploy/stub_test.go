package deploy

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
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
