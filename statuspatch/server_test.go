package statuspatch

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func TestBudgetIsTheURLsTimeoutLessASecondAtMost(t *testing.T) {
	cases := map[string]struct {
		url  string
		want time.Duration
	}{
		"three seconds leave two":            {"/x?timeout=3s", 2 * time.Second},
		"ten seconds leave the limit":        {"/x?timeout=10s", DefaultBudget},
		"one second leaves none":             {"/x?timeout=1s", 0},
		"no timeout leaves the limit":        {"/x", DefaultBudget},
		"what is no time leaves the limit":   {"/x?timeout=soon", DefaultBudget},
		"a negative time leaves the limit":   {"/x?timeout=-3s", DefaultBudget},
		"a limit below the timeout is taken": {"/x?timeout=2500ms", 1500 * time.Millisecond},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, budgetOf(httptest.NewRequest(http.MethodPost, tc.url, nil), DefaultBudget))
		})
	}
}

// Bad input on the HTTP side gets an answer, never a panic or a hang.
func TestBadInputGetsAnAnswer(t *testing.T) {
	cases := map[string]struct {
		body        []byte
		contentType string
		want        string
	}{
		"no body":            {nil, "application/json", `"code":400`},
		"not JSON":           {[]byte("}{"), "application/json", `"code":400`},
		"another type":       {[]byte("{}"), "text/plain", `"code":400`},
		"another kind":       {[]byte(`{"kind":"Pod","apiVersion":"v1"}`), "application/json", `"code":400`},
		"ten megabytes":      {bytes.Repeat([]byte("x"), 10<<20), "application/json", `"code":413`},
		"no request":         {[]byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`), "application/json", `"code":400`},
		"a null request":     {[]byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":null}`), "application/json", `"code":400`},
		"a truncated object": {[]byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","object":{"kind":"Instance","sta`), "application/json", `"code":400`},
	}
	for name, tc := range cases {
		for _, h := range []hook{hookInstances, hookDeployments, hookWorkloads} {
			t.Run(name+" on "+string(h), func(t *testing.T) {
				w := newWorld(t)
				review := map[hook]reviewer{
					hookInstances: w.instances.review, hookDeployments: w.overlay.deployment, hookWorkloads: w.overlay.workload,
				}[h]
				r := httptest.NewRequest(http.MethodPost, "/x?timeout=3s", bytes.NewReader(tc.body))
				r.Header.Set("Content-Type", tc.contentType)
				answer := httptest.NewRecorder()
				w.shell.handler(h, review).ServeHTTP(answer, r)
				assert.Equal(t, http.StatusOK, answer.Code)
				assert.Contains(t, answer.Body.String(), tc.want)
			})
		}
	}
}

// What is answered here is what controller-runtime would have answered, and a
// reviewer sees the request that it would have seen.
func TestAReviewIsServedAsByControllerRuntime(t *testing.T) {
	for name, response := range map[string]admission.Response{
		"allowed": admission.Allowed(""),
		"warned":  warned("careful"),
		"patched": admission.Patched("", jsonpatch.NewOperation("add", "/status/conditions", []any{"<x>"})),
		"errored": admission.Errored(http.StatusBadRequest, errNoReview),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			req := fullReview()
			req.UserInfo = authenticationv1.UserInfo{Username: "u", Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}}}
			req.DryRun = new(bool)
			body := encoded(t, admissionv1.AdmissionReview{TypeMeta: reviewType, Request: &req.AdmissionRequest})
			var seen []admission.Request
			want := served(&admission.Webhook{Handler: admission.HandlerFunc(func(_ context.Context, r admission.Request) admission.Response {
				seen = append(seen, r)
				return response
			})}, body)
			got := served(w.shell.handler(hookInstances, func(_ context.Context, r admission.Request) (admission.Response, outcome) {
				seen = append(seen, r)
				return response, outcomeApplied
			}), body)
			assert.Equal(t, want.Body.String(), got.Body.String())
			assert.Equal(t, want.Code, got.Code)
			require.Len(t, seen, 2)
			assert.Equal(t, seen[0], seen[1])
		})
	}
}

func TestAStandbyAllowsAndSendsTheCallerAway(t *testing.T) {
	w := newWorld(t)
	w.tenure.end()
	body := `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u1"}}`
	r := httptest.NewRequest(http.MethodPost, "/x?timeout=3s", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	w.shell.handler(hookInstances, func(context.Context, admission.Request) (admission.Response, outcome) {
		t.Error("a standby reviews nothing")
		return admission.Allowed(""), outcomeApplied
	}).ServeHTTP(answer, r)
	assert.Equal(t, "close", answer.Header().Get("Connection"))
	assert.JSONEq(t, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",
		"response":{"uid":"u1","allowed":true,"status":{"metadata":{},"code":200}}}`, answer.Body.String())
}

func TestAHandOverWaitsForReviewsUnderWay(t *testing.T) {
	var i inflight
	i.begin()
	i.begin()
	done := make(chan struct{})
	go func() { i.wait(t.Context()); close(done) }()
	i.end()
	i.begin() // one comes while somebody waits
	i.end()
	select {
	case <-done:
		require.Fail(t, "a review is under way still")
	default:
	}
	i.end()
	<-done

	i.begin()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	i.wait(ctx) // returns though a review hangs
}
