package statuspatch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// unchangedReview is the review of a write that changes nothing for the parents,
// as nearly all are.
func unchangedReview() admission.Request {
	raw := largeInstance(0, 7)
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "r1", Operation: admissionv1.Update, SubResource: "status",
		OldObject: runtime.RawExtension{Raw: raw}, Object: runtime.RawExtension{Raw: raw},
	}}
}

// BenchmarkReviewUnchanged is what Causeway adds to such a write: both objects
// decoded, and the decision.
func BenchmarkReviewUnchanged(b *testing.B) {
	h, req, ctx := &instances{}, unchangedReview(), context.Background()
	b.SetBytes(int64(len(req.Object.Raw) + len(req.OldObject.Raw)))
	b.ReportAllocs()
	for b.Loop() {
		if response, result := h.review(ctx, req); !response.Allowed || result != outcomeUnchanged {
			b.Fatal(result)
		}
	}
}

// BenchmarkServe is the way of a review from the bytes of its body to those of the
// answer, but for what is decided.
func BenchmarkServe(b *testing.B) {
	h, body := servedReview(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if answer := served(h, body); answer.Code != http.StatusOK {
			b.Fatal(answer.Body)
		}
	}
}

// servedReview is a handler that allows everything, and the body of a review.
func servedReview(tb testing.TB) (http.Handler, []byte) {
	tb.Helper()
	m, err := newMetrics(nil)
	if err != nil {
		tb.Fatal(err)
	}
	s := &shell{tenure: newTenure(time.Now), metrics: m, budget: DefaultBudget}
	req := fullReview()
	body, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: reviewType, Request: &req.AdmissionRequest})
	if err != nil {
		tb.Fatal(err)
	}
	return s.handler(hookInstances, pass), body
}

func served(h http.Handler, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/x?timeout=3s", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer
}

// BenchmarkOverlayPatch is the merge into what another writer is about to store:
// a Workload of so many placements whose conditions are all corrected.
func BenchmarkOverlayPatch(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprint("placements=", n), func(b *testing.B) {
			stored, incoming, found := overlayCase(n)
			b.ReportAllocs()
			for b.Loop() {
				if patches, err := overlayPatch(stored, incoming, found); err != nil || len(patches) == 0 {
					b.Fatal(patches, err)
				}
			}
		})
	}
}

// overlayCase is a Workload as it is stored and as the platform would store it
// next, and what corrects that.
func overlayCase(placements int) (stored, incoming []byte, found []correction) {
	stored, incoming = workloadOfPlacements(placements, crashingText), workloadOfPlacements(placements, "No instances available yet")
	condition := metav1.Condition{Type: conditionAvailable, Status: metav1.ConditionFalse, Reason: "InstanceCrashing", Message: crashingText}
	found = append(found, correction{condition: condition})
	for i := range placements {
		found = append(found, correction{placement: fmt.Sprint("p", i), condition: condition})
	}
	return stored, incoming, found
}

const crashingText = "1 of 1 instances is repeatedly exiting and restarting."

func workloadOfPlacements(n int, message string) []byte {
	condition := fmt.Sprintf(`{"type":"Available","status":"False","reason":"InstanceCrashing","message":%q,"lastTransitionTime":%q}`, message, epoch)
	out := fmt.Appendf(nil, `{"apiVersion":"compute.datumapis.com/v1alpha","kind":"Workload","metadata":{"namespace":"shop","name":"api","uid":"w1"},
		"status":{"replicas":%d,"conditions":[%s],"placements":[`, n, condition)
	for i := range n {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, `{"name":"p%d","replicas":1,"conditions":[%s]}`, i, condition)
	}
	return append(out, "]}}"...)
}
