package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/types"
)

// review is the body that the API server sends.
func review(t testing.TB, r *resource, uid types.UID, raw []byte) []byte {
	t.Helper()
	req := created(r, "shop", raw).AdmissionRequest
	req.UID = uid
	return encode(t, admissionv1.AdmissionReview{TypeMeta: reviewType, Request: &req})
}

func post(body io.Reader) *http.Request {
	req := httptest.NewRequest(http.MethodPost, PathWorkloads+"?timeout=5s", body)
	req.Header.Set("Content-Type", "application/json")
	return req
}

// What is no review is answered by an HTTP error and a Status, so that the
// failurePolicy decides and the API server can say why.
func TestWhatIsNoReviewIsAnsweredByAStatus(t *testing.T) {
	const is = `"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"`
	failure := func(code int, reason, message string) string {
		quoted, _ := json.Marshal(message)
		return `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":` + string(quoted) +
			`,"reason":"` + reason + `","code":` + http.StatusText(code) + "}\n"
	}
	bad := func(message string) string { return failure(400, "BadRequest", message) }
	for name, tc := range map[string]struct {
		body   io.Reader
		change func(*http.Request)
		code   int
		want   string
	}{
		"no body":                  {http.NoBody, nil, 400, bad("the body is empty")},
		"a nil body":               {nil, func(r *http.Request) { r.Body = nil }, 400, bad("the body is empty")},
		"an empty body":            {strings.NewReader(""), nil, 400, bad("the body is empty")},
		"not JSON":                 {strings.NewReader("uid: 1"), nil, 400, bad("the body is no AdmissionReview: it is no JSON object")},
		"half of JSON":             {strings.NewReader(`{"kind":`), nil, 400, bad(`the body is no AdmissionReview: unexpected EOF within "/kind" after offset 8`)},
		"null":                     {strings.NewReader(`null`), nil, 400, bad("the body is no AdmissionReview: it is no JSON object")},
		"a list":                   {strings.NewReader(`[]`), nil, 400, bad("the body is no AdmissionReview: it is no JSON object")},
		"no kind":                  {strings.NewReader(`{"request":{"uid":"1"}}`), nil, 400, bad(`a review is AdmissionReview of admission.k8s.io/v1, not "" of ""`)},
		"another kind":             {strings.NewReader(`{"kind":"Pod","apiVersion":"v1","request":{"uid":"1"}}`), nil, 400, bad(`a review is AdmissionReview of admission.k8s.io/v1, not "Pod" of "v1"`)},
		"another version":          {strings.NewReader(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","request":{"uid":"1"}}`), nil, 400, bad(`a review is AdmissionReview of admission.k8s.io/v1, not "AdmissionReview" of "admission.k8s.io/v1beta1"`)},
		"no request":               {strings.NewReader(`{` + is + `}`), nil, 400, bad("the review has no request")},
		"a null request":           {strings.NewReader(`{` + is + `,"request":null}`), nil, 400, bad("the review has no request")},
		"a request that is a list": {strings.NewReader(`{` + is + `,"request":[]}`), nil, 400, bad("the body is no AdmissionReview: request must be an object, not a list")},
		"an empty request":         {strings.NewReader(`{` + is + `,"request":{}}`), nil, 400, bad("the review's request has no uid")},
		"two requests":             {strings.NewReader(`{` + is + `,"request":{"uid":"1"},"request":{"uid":"2"}}`), nil, 400, bad(`the body is no AdmissionReview: duplicate field "request"`)},
		"another resource":         {strings.NewReader(`{` + is + `,"request":{"uid":"1","resource":{"group":"","version":"v1","resource":"pods"}}}`), nil, 400, bad(`this path judges workloads.compute.datumapis.com, not "pods" of group ""`)},
		"a body that breaks off":   {iotest.ErrReader(errors.New("connection reset")), nil, 400, bad("reading the body: connection reset")},
		"another content type":     {strings.NewReader(`{}`), func(r *http.Request) { r.Header.Set("Content-Type", "application/yaml") }, 415, failure(415, "UnsupportedMediaType", `a review is application/json, not "application/yaml"`)},
		"no content type":          {strings.NewReader(`{}`), func(r *http.Request) { r.Header.Del("Content-Type") }, 415, failure(415, "UnsupportedMediaType", `a review is application/json, not ""`)},
		"another method":           {http.NoBody, func(r *http.Request) { r.Method = http.MethodGet }, 405, failure(405, "MethodNotAllowed", "a review is sent by POST")},
		"10 MB":                    {bytes.NewReader(make([]byte, 10<<20)), nil, 413, failure(413, "RequestEntityTooLarge", "the body is over 7340032 bytes")},
		"a body that never ends":   {endless{}, nil, 413, failure(413, "RequestEntityTooLarge", "the body is over 7340032 bytes")},
	} {
		t.Run(name, func(t *testing.T) {
			h := hook(t, workloads, &reader{classes: published()})
			req := post(tc.body)
			if tc.change != nil {
				tc.change(req)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			assert.Equal(t, tc.code, w.Code)
			assert.Equal(t, strings.Replace(tc.want, http.StatusText(tc.code)+"}\n", jsonNumber(tc.code)+"}\n", 1), w.Body.String())
			assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
			assert.Equal(t, 1, counted(t, h.metrics.reviews["workloads"][string(OutcomeBadRequest)]))
		})
	}
}

func jsonNumber(n int) string {
	raw, _ := json.Marshal(n)
	return string(raw)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestAReviewIsAnsweredByAReview(t *testing.T) {
	granted := object(t, "Workload", "shop", runtimeOf("web", ctr("app", "NET_BIND_SERVICE")))
	for name, tc := range map[string]struct {
		body []byte
		want string
	}{
		"granted": {
			review(t, workloads, "u-1", granted),
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u-1","allowed":true,"status":{"metadata":{},"code":200}}}` + "\n",
		},
		"an object that is a string": {
			review(t, workloads, "u-2", []byte(`"shop"`)),
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u-2","allowed":false,"status":{"metadata":{},"status":"Failure",` +
				`"message":"the capabilities that Workload \"shop\" adds could not be checked, so it was not stored: it is no JSON object; correct the object and try again",` +
				`"reason":"BadRequest","details":{"name":"shop","group":"compute.datumapis.com","kind":"Workload"},"code":400}}}` + "\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := post(bytes.NewReader(tc.body))
			req.Header.Set("Content-Type", "application/json; charset=utf-8")
			w := httptest.NewRecorder()
			hook(t, workloads, &reader{classes: published()}).ServeHTTP(w, req)
			assert.Equal(t, http.StatusOK, w.Code)
			assert.Equal(t, tc.want, w.Body.String())
		})
	}
}

// Over a real connection, where a server that stops reading would break it.
func TestALongBodyGetsItsAnswerOverARealConnection(t *testing.T) {
	mux := http.NewServeMux()
	w, err := New(Options{Classes: &reader{}, Live: &reader{}, Registerer: newRegistry()})
	require.NoError(t, err)
	w.Register(mux)
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, r := range resources {
		resp, err := server.Client().Post(server.URL+r.path, "application/json", bytes.NewReader(make([]byte, 10<<20)))
		require.NoError(t, err)
		assert.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode, r.path)
		_ = resp.Body.Close()
	}
	resp, err := server.Client().Post(server.URL+"/elsewhere", "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	assert.Equal(t, http.StatusNotFound, resp.StatusCode)
	_ = resp.Body.Close()
}

// A sender that goes silent in the middle of its body is answered when the
// budget is over.
func TestASilentSenderIsAnswered(t *testing.T) {
	server := httptest.NewServer(hook(t, workloads, &reader{}))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "POST /?timeout=200ms HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Contains(t, string(answer), "HTTP/1.1 400 Bad Request")
	assert.Contains(t, string(answer), `"message":"reading the body: `)
}

func TestTheBudgetLeavesTimeForTheAnswer(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"?timeout=5s":    4 * time.Second,
		"?timeout=30s":   4 * time.Second,
		"?timeout=3s":    2 * time.Second,
		"?timeout=1s":    500 * time.Millisecond,
		"?timeout=500ms": 250 * time.Millisecond,
		"":               4 * time.Second,
		"?timeout=x":     4 * time.Second,
		"?timeout=-1s":   4 * time.Second,
	} {
		before := time.Now()
		ctx, cancel := withBudget(httptest.NewRequest(http.MethodPost, "/"+query, nil))
		after := time.Now()
		deadline, ok := ctx.Deadline()
		cancel()
		require.True(t, ok)
		assert.WithinRange(t, deadline, before.Add(want), after.Add(want), "budget of %q", query)
	}
}

// Any review that has a UID is answered with it, whatever its object is.
func FuzzAnAnswerAlwaysCarriesTheUID(f *testing.F) {
	f.Add("u", []byte(`{"spec":{"template":{"spec":{"runtime":{"class":"web","sandbox":{"containers":[{"name":"app","securityContext":{"capabilities":{"add":["SYS_ADMIN"]}}}]}}}}}}`), []byte(`null`), true)
	f.Add("u", []byte(`{"metadata":{"deletionTimestamp":"yesterday"}}`), []byte(`{`), false)
	f.Add("u", []byte(``), []byte(``), true)
	live := &reader{classes: published()}
	w, err := New(Options{Classes: live, Live: live, Registerer: newRegistry()})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, uid string, object, old []byte, create bool) {
		for _, r := range resources {
			req := updatedFrom(r, "shop", object, old)
			if create {
				req.Operation = admissionv1.Create
			}
			req.UID = types.UID(uid)
			resp := w.Handlers()[r.path].Handle(context.Background(), req)
			assert.Equal(t, uid, string(resp.UID))
			if !resp.Allowed {
				assert.NotEmpty(t, resp.Result.Message)
				assert.GreaterOrEqual(t, resp.Result.Code, int32(400))
			}
		}
	})
}

// Whatever is sent, the answer is a review with the UID that was sent, or an
// HTTP error.
func FuzzServeHTTP(f *testing.F) {
	f.Add(review(f, workloads, "u-1", []byte(`{}`)))
	f.Add([]byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":null}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	live := &reader{classes: published()}
	w, err := New(Options{Classes: live, Live: live, Registerer: newRegistry()})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, body []byte) {
		rec := httptest.NewRecorder()
		w.Handlers()[PathWorkloads].ServeHTTP(rec, post(bytes.NewReader(body)))
		if rec.Code != http.StatusOK {
			assert.Contains(t, rec.Body.String(), `"kind":"Status"`)
			return
		}
		var sent, got admissionv1.AdmissionReview
		require.NoError(t, decode(body, &sent))
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &got))
		assert.Equal(t, strings.ToValidUTF8(string(sent.Request.UID), "\ufffd"), string(got.Response.UID))
	})
}
