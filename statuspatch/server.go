package statuspatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/go-logr/logr"
)

// The paths of the webhooks, as deploy/ names them.
const (
	PathInstances   = "/validate-instances-status"
	PathDeployments = "/mutate-workloaddeployments-status"
	PathWorkloads   = "/mutate-workloads-status"
)

// answering is what is kept free of the API server's timeout for the answer to
// travel: it rounds its timeout up to whole seconds, and a review that ends on
// the dot is one that came too late.
const answering = time.Second

var (
	errBudget   = errors.New("out of budget")
	errNoReview = errors.New("the body is not an admission review with a request")
)

// reviewer answers reviews of one webhook. It always allows.
type reviewer func(ctx context.Context, req admission.Request) (admission.Response, outcome)

// shell is the HTTP side of the status webhooks: who may answer, for how long,
// and what becomes of a panic. The reviews under way are counted so that a
// hand-over can wait for them.
type shell struct {
	tenure  *tenure
	metrics *metrics
	budget  time.Duration
	log     logr.Logger

	reviews inflight
}

// handler wraps a reviewer for one path.
func (s *shell) handler(h hook, review reviewer) http.Handler {
	hook := &admission.Webhook{
		Handler: admission.HandlerFunc(func(ctx context.Context, req admission.Request) admission.Response {
			return s.answer(ctx, h, req, review)
		}),
		LogConstructor: func(logr.Logger, *admission.Request) logr.Logger { return s.log },
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.reviews.begin()
		defer s.reviews.end()
		defer func(began time.Time) { s.metrics.reviewed(h, time.Since(began)) }(time.Now())
		if !s.tenure.active() {
			// The API server holds on to one connection; closing it makes it
			// dial anew, and find the active process.
			w.Header().Set("Connection", "close")
		}
		ctx, cancel := context.WithTimeoutCause(r.Context(), budgetOf(r, s.budget), errBudget)
		defer cancel()
		w.Header().Set("Content-Type", "application/json")
		s.serve(w, r.WithContext(ctx), hook)
	})
}

// maxReview is how much of a body is read here; what is longer is no review.
const maxReview = 7 << 20

// serve answers what is plainly a review. All else is left to controller-runtime,
// which says what is wrong with it, and reads a body four times: of a review that
// changes nothing that was most of the cost.
func (s *shell) serve(w http.ResponseWriter, r *http.Request, hook *admission.Webhook) {
	if r.Body == nil || r.Body == http.NoBody || r.Header.Get("Content-Type") != "application/json" {
		hook.ServeHTTP(w, r)
		return
	}
	// Where the sender tells the length, the body is read into one piece of memory.
	var read bytes.Buffer
	read.Grow(int(min(max(r.ContentLength, 0), maxReview)) + bytes.MinRead)
	_, err := read.ReadFrom(io.LimitReader(r.Body, maxReview))
	body := read.Bytes()
	var review admissionv1.AdmissionReview
	if err != nil || len(body) == maxReview || unmarshal(body, &review) != nil || review.TypeMeta != reviewType || review.Request == nil {
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		hook.ServeHTTP(w, r)
		return
	}
	response := hook.Handle(r.Context(), admission.Request{AdmissionRequest: *review.Request})
	if err := json.NewEncoder(w).Encode(admissionv1.AdmissionReview{TypeMeta: reviewType, Response: &response.AdmissionResponse}); err != nil {
		s.log.Error(err, "An answer could not be sent")
	}
}

var reviewType = metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}

// budgetOf is the time a review may take: the API server's deadline, which it
// sends in the URL, less the time to answer, and the limit at most.
func budgetOf(r *http.Request, limit time.Duration) time.Duration {
	timeout, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || timeout <= 0 {
		return limit
	}
	return max(min(timeout-answering, limit), 0)
}

// answer runs one review. Whatever happens, the write is allowed.
func (s *shell) answer(ctx context.Context, h hook, req admission.Request, review reviewer) (response admission.Response) {
	result := outcomePanic
	ctx, span := startSpan(ctx, spanReview)
	defer func() {
		if r := recover(); r != nil {
			s.log.Error(fmt.Errorf("panic: %v", r), "A status review panicked; the write is allowed", "webhook", h)
			response = warned("causeway: an internal error kept the parents from being updated; they follow within seconds")
		}
		s.metrics.review(h, result)
		endReview(span, h, req, result)
	}()
	if req.UID == "" {
		// No API server sent this: there is no write to allow.
		result = outcomeUndecodable
		return admission.Errored(http.StatusBadRequest, errNoReview)
	}
	if !s.tenure.active() {
		result = outcomeInactive
		return admission.Allowed("")
	}
	response, result = review(ctx, req)
	return response
}

// warned allows with a warning, which kubectl and controllers print.
func warned(text string) admission.Response {
	return admission.Allowed("").WithWarnings(text)
}

// inflight counts reviews and lets one wait until there are none. Unlike a
// WaitGroup it may be entered while somebody waits.
type inflight struct {
	mu    sync.Mutex
	count int
	idle  chan struct{}
}

func (i *inflight) begin() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count++
}

func (i *inflight) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.count--
	if i.count == 0 && i.idle != nil {
		close(i.idle)
		i.idle = nil
	}
}

// wait returns when no review is under way, or when ctx ends.
func (i *inflight) wait(ctx context.Context) {
	i.mu.Lock()
	if i.count == 0 {
		i.mu.Unlock()
		return
	}
	if i.idle == nil {
		i.idle = make(chan struct{})
	}
	idle := i.idle
	i.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}
