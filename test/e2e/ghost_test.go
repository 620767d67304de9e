package e2e

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

// What is lost on the way is made good: nobody has to write again.
func TestLostWrites(t *testing.T) {
	s := start(t, environment.Options{DeployOverlay: "status-only", Statuspatch: 2, Proxy: true})
	s.in("killed before the Workload is written", func(s *scene) { testKilledBetween(s, "killed-w", "/workloads/") })
	s.in("killed before the deployment is written", func(s *scene) { testKilledBetween(s, "killed-d", "/workloaddeployments/") })
	s.in("the API server crashes", testAPIServerRestart)
	// Last, since nothing is stored any more once the objector has gone.
	s.in("never stored", testNeverStored)
}

// objector is another validating webhook on the status of Instances. The API
// server asks all of them at once and stores nothing that one of them refuses.
type objector struct {
	refuses atomic.Bool
	// refused counts the writes that were never stored.
	refused atomic.Int32
}

func (s *scene) newObjector() *objector {
	s.t.Helper()
	o := &objector{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "no review", http.StatusBadRequest)
			return
		}
		refuses := o.refuses.Load()
		if refuses {
			o.refused.Add(1)
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: !refuses}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review)
	}))
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.StartTLS()
	s.t.Cleanup(server.Close)

	admin, err := kubernetes.NewForConfig(s.AdminConfig())
	require.NoError(s.t, err)
	fail, none := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone
	_, err = admin.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(s.ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "objector"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "objector.example.com", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      &server.URL,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{computeapi.Group}, APIVersions: []string{"v1alpha"}, Resources: []string{"instances/status"},
				},
			}},
		}},
	}, metav1.CreateOptions{})
	require.NoError(s.t, err)
	return o
}

// A write that our webhook has answered, and another has refused, was never
// stored: what the parents were made to say for it is taken back.
func testNeverStored(s *scene) {
	t := s.t
	f := s.newFleet("ghost", 1, 1)
	objector := s.newObjector()
	active := s.active()
	refused := func(to fleetState) {
		t.Helper()
		before := objector.refused.Load()
		objector.refuses.Store(true)
		// A new configuration is in force a moment after it is stored.
		s.waitFor("the write to be refused", func() (bool, string) {
			err := patchConditions(s.ctx, s.customer, f.instance(0, 0), to)
			if err == nil {
				require.NoError(t, patchConditions(s.ctx, s.customer, f.instance(0, 0), fleetReady))
				return false, "it was stored"
			}
			return strings.Contains(err.Error(), "objector.example.com"), err.Error()
		})
		objector.refuses.Store(false)
		assert.Greater(t, objector.refused.Load(), before)
	}
	refused(fleetCrashes)
	ghost, last := f.all(fleetCrashes)()
	assert.True(t, ghost, "the parents were written in the request: %s", last)
	s.within(promise, "a ghost failure to be taken back", f.isTrue)
	assert.Positive(t, s.metric(active, "causeway_status_pending_settled_total", `result="stored"`))

	require.NoError(t, patchConditions(s.ctx, s.customer, f.instance(0, 0), fleetLacksImage))
	reached, last := f.all(fleetLacksImage)()
	require.True(t, reached, last)
	refused(fleetReady)
	ghost, last = f.isTrue()
	assert.True(t, ghost, "the parents were written in the request: %s", last)
	s.within(promise, "a ghost recovery to be taken back", f.all(fleetLacksImage))
	assert.Zero(t, s.metric(active, "causeway_status_deferred_total"))
	assert.Zero(t, s.metric(active, "causeway_status_pending_settled_total", `result="gone"`))
}

// The active process dies with the one parent written and the other not.
func testKilledBetween(s *scene, name, held string) {
	f := s.newFleet(name, 1, 1)
	active := s.active()
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	defer close(release)
	s.Proxy.SetFault(environment.On(func(r *http.Request) bool {
		return environment.ParentWrites(r) && strings.Contains(r.URL.Path, held)
	}, environment.Hold(arrived, release)))
	written := make(chan error, 1)
	go func() { written <- patchConditions(s.ctx, s.customer, f.instance(0, 0), fleetCrashes) }()
	select {
	case <-arrived:
	case <-s.ctx.Done():
		s.t.Fatal("the parent was not written")
	}
	s.waitFor("the other parent to be written", func() (bool, string) {
		d, w := f.deploymentSays(f.deployments[0]), f.workloadSays(f.workload)
		return (d.Reason == fleetCrashes.reason) != (w.Reason == fleetCrashes.reason), d.Message + " / " + w.Message
	})
	active.Kill()
	s.Proxy.SetFault(nil)
	s.within(promise, "the parents to be true", f.all(fleetCrashes))
	require.NoError(s.t, <-written, "the Instance's write")
	s.replace()
}
