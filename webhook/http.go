package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	// maxBody is what the API server may send: two objects of at most 3 MiB (it
	// takes twice what etcd does) and 1 MiB for the rest of the review.
	maxBody = 7 << 20
	// maxDrained is how much of a longer body is read and thrown away, so that
	// its sender gets to read the answer instead of a broken connection.
	maxDrained = 16 << 20

	// maxBudget is the longest a review may take: the timeout of 5 s that the
	// webhook configuration gives it, less budgetSpare.
	maxBudget = 4 * time.Second
	// budgetSpare is kept back for the way: the API server rounds the timeout
	// up to whole seconds when it sends it.
	budgetSpare = time.Second

	mediaJSON = "application/json"
)

// ServeHTTP answers one AdmissionReview, version v1. Whatever is not a review
// of this resource is answered by an HTTP error with a Status that says why, so
// that the failurePolicy decides; a review is answered by Handle and HTTP 200.
//
// The handler of controller-runtime is not used: it answers both kinds alike
// with HTTP 200, takes an object of any kind for a review, and passes on a
// review without a request as an empty one.
func (r *reviewer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	defer func(began time.Time) { r.metrics.took(r.resource, time.Since(began)) }(time.Now())
	growStack()
	ctx, cancel := withBudget(req)
	defer cancel()
	review, bad := readReview(ctx, w, req)
	if bad == nil {
		bad = r.misdirected(review.Request.Resource)
	}
	if bad != nil {
		r.metrics.count(r.resource, answer{outcome: OutcomeBadRequest})
		logf.FromContext(ctx).Info("Not a review", "path", r.resource.path, "code", bad.code, "reason", bad.why)
		write(ctx, w, int(bad.code), metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure,
			Code:     bad.code,
			Reason:   bad.reason,
			Message:  bad.why,
		})
		return
	}
	resp := r.Handle(ctx, review.request()).AdmissionResponse
	write(ctx, w, http.StatusOK, admissionv1.AdmissionReview{TypeMeta: reviewType, Response: &resp})
}

// growStack makes room for a review while there is little on the stack. HTTP/2
// answers each request in a goroutine of its own, whose stack is copied whenever it
// is too small; in the depth of a decoder that cost a tenth of a refused review.
//
//go:noinline
func growStack() {
	var room [8 << 10]byte
	runtime.KeepAlive(&room)
}

var reviewType = metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}

// badRequest is an answer to what is no review.
type badRequest struct {
	code   int32
	reason metav1.StatusReason
	why    string
}

func notReview(format string, args ...any) *badRequest {
	return &badRequest{http.StatusBadRequest, metav1.StatusReasonBadRequest, fmt.Sprintf(format, args...)}
}

// misdirected tells of a review of another resource: a fault in the webhook
// configuration, which must neither judge nor hold up that resource.
func (r *reviewer) misdirected(sent metav1.GroupVersionResource) *badRequest {
	if sent.Group != Group || sent.Resource != r.resource.name {
		return notReview("this path judges %s.%s, not %q of group %q",
			r.resource.name, Group, clip(sent.Resource, maxQuoted), clip(sent.Group, maxQuoted))
	}
	return nil
}

// incoming is an AdmissionReview as far as it is used. Who asks, by which kind and
// with what options takes as long to decode as the rest, and decides nothing.
type incoming struct {
	metav1.TypeMeta `json:",inline"`
	Request         *struct {
		UID         types.UID                   `json:"uid"`
		Resource    metav1.GroupVersionResource `json:"resource"`
		SubResource string                      `json:"subResource"`
		Name        string                      `json:"name"`
		Namespace   string                      `json:"namespace"`
		Operation   admissionv1.Operation       `json:"operation"`
		Object      apiruntime.RawExtension     `json:"object"`
		OldObject   apiruntime.RawExtension     `json:"oldObject"`
	} `json:"request"`
}

// request is what Handle judges.
func (i *incoming) request() admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: i.Request.UID, Resource: i.Request.Resource, SubResource: i.Request.SubResource,
		Name: i.Request.Name, Namespace: i.Request.Namespace, Operation: i.Request.Operation,
		Object: i.Request.Object, OldObject: i.Request.OldObject,
	}}
}

// readReview reads a review that has a request with a UID.
func readReview(ctx context.Context, w http.ResponseWriter, req *http.Request) (*incoming, *badRequest) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, &badRequest{http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "a review is sent by POST"}
	}
	if !isJSON(req.Header.Get("Content-Type")) {
		return nil, &badRequest{http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
			fmt.Sprintf("a review is application/json, not %q", clip(req.Header.Get("Content-Type"), maxQuoted))}
	}
	body, bad := readBody(ctx, w, req)
	if bad != nil {
		return nil, bad
	}
	review := &incoming{}
	if err := decode(body, review); err != nil {
		return nil, notReview("the body is no AdmissionReview: %v", err)
	}
	switch {
	case review.TypeMeta != reviewType:
		return nil, notReview("a review is AdmissionReview of admission.k8s.io/v1, not %q of %q",
			clip(review.Kind, maxQuoted), clip(review.APIVersion, maxQuoted))
	case review.Request == nil:
		return nil, notReview("the review has no request")
	case review.Request.UID == "":
		return nil, notReview("the review's request has no uid")
	}
	return review, nil
}

// isJSON tells a content type, which an API server sends without parameters.
func isJSON(contentType string) bool {
	if contentType == mediaJSON {
		return true
	}
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && t == mediaJSON
}

// readBody reads at most maxBody bytes, and stops when ctx ends.
func readBody(ctx context.Context, w http.ResponseWriter, req *http.Request) ([]byte, *badRequest) {
	if req.Body == nil {
		return nil, notReview("the body is empty")
	}
	defer endReads(ctx, w)()
	// Where the sender tells the length, the body is read into one piece of memory.
	var read bytes.Buffer
	read.Grow(int(min(max(req.ContentLength, 0), maxBody)) + bytes.MinRead)
	_, err := read.ReadFrom(io.LimitReader(req.Body, maxBody+1))
	body := read.Bytes()
	switch {
	case err != nil:
		return nil, notReview("reading the body: %v", err)
	case len(body) == 0:
		return nil, notReview("the body is empty")
	case len(body) > maxBody:
		_, _ = io.CopyN(io.Discard, req.Body, maxDrained-maxBody)
		return nil, &badRequest{http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge,
			fmt.Sprintf("the body is over %d bytes", maxBody)}
	}
	return body, nil
}

// endReads ends reads of the body when ctx ends: a body that never ends must not
// hold its request for ever. Call what it returns when no read is under way.
//
// A deadline set beforehand and lifted after the body would do, but costs HTTP/2
// two messages for each review. Where the connection knows no deadline (in tests),
// nothing is lost. After a failed read it stays, since the server reads on before
// it answers.
func endReads(ctx context.Context, w http.ResponseWriter) (done func()) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
	})
	return func() {
		if !stop() {
			// w may not be used once its handler has returned.
			<-ended
		}
	}
}

// withBudget ends the context before the API server gives up, so that it is
// told why: `?timeout=5s` leaves 4 s, and a timeout too short to spare anything
// leaves half of it.
func withBudget(req *http.Request) (context.Context, context.CancelFunc) {
	budget := maxBudget
	// An API server sends nothing else in the query.
	sent, alone := strings.CutPrefix(req.URL.RawQuery, "timeout=")
	if !alone || strings.ContainsAny(sent, "&%;+") {
		sent = req.URL.Query().Get("timeout")
	}
	if timeout, err := time.ParseDuration(sent); err == nil && timeout > 0 {
		budget = min(budget, max(timeout-budgetSpare, timeout/2))
	}
	return context.WithTimeoutCause(req.Context(), budget, errSlow)
}

func write(ctx context.Context, w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", mediaJSON)
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		// The connection is gone, and with it whoever asked.
		logf.FromContext(ctx).V(4).Info("Answer not delivered", "reason", err.Error())
	}
}
