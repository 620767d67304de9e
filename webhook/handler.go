package webhook

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// reviewer answers the reviews of one resource.
type reviewer struct {
	resource *resource
	mode     Mode
	// cached and live read the same API; live alone may refuse.
	cached  client.Reader
	live    client.Reader
	reads   *classReads // of both
	classes *sharedRead // of live
	metrics *metrics
}

var (
	_ admission.Handler = (*reviewer)(nil)
	_ http.Handler      = (*reviewer)(nil)
)

// Handle answers one review. It never panics, every read it makes ends with ctx,
// and the answer always carries the UID of the request. A dry run is answered like any
// other request, since nothing is written.
func (r *reviewer) Handle(ctx context.Context, req admission.Request) admission.Response {
	ctx, span := startSpan(ctx, spanReview)
	a := r.review(ctx, &req)
	if r.mode == ModeWarn {
		a.outcome = a.outcome.softened()
	}
	r.metrics.count(r.resource, a)
	r.log(ctx, &req, a)
	resp := r.respond(&req, a)
	resp.UID = req.UID
	endReview(span, r.resource, &req, a)
	return resp
}

// answer is what a review came to.
type answer struct {
	outcome Outcome
	subject *subject // nil where the object does not decode
	// verdict holds the causes of outcomes that have any.
	verdict Verdict
	// doubt is why the object could not be judged.
	doubt error
}

// review judges one request. What a doubt does is decided here by resource:
// whether the mode softens it is not.
func (r *reviewer) review(ctx context.Context, req *admission.Request) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = r.inDoubt(a.subject, errPanic(p))
		}
	}()
	if !judged(req) {
		return answer{outcome: OutcomeAllowed}
	}
	update := req.Operation == admissionv1.Update
	same := func() bool { return update && untouched(r.resource, req.OldObject.Raw, req.Object.Raw) }

	s, err := r.resource.decode(req.Object.Raw)
	switch {
	case err != nil && same():
		return answer{outcome: OutcomeAllowed}
	case err != nil:
		return r.inDoubt(nil, err)
	case !s.runtime.addsAny():
		return answer{outcome: OutcomeAllowed}
	case !s.meta.DeletionTimestamp.IsZero() && same():
		return answer{outcome: OutcomeAllowed}
	}

	a.subject = s // names the object should something panic

	c := Case{Runtime: s.runtime, Path: r.resource.at}
	var storedErr error
	if update {
		var stored *subject
		if stored, storedErr = r.resource.decode(req.OldObject.Raw); storedErr == nil {
			c.Stored = stored.runtime
		}
	}
	// What the cache accepts is accepted: it costs no request, and a class that
	// was removed a moment ago only lets through what the provider judges again.
	var v Verdict
	if c.Classes, err = r.reads.read(ctx, r.cached); err == nil {
		if v = Validate(c); len(v.Refused) == 0 {
			return r.accepted(s, c, v)
		}
	}
	if same() {
		return answer{outcome: OutcomeAllowed}
	}
	return r.judgeLive(ctx, req, s, c, v, storedErr)
}

// judgeLive decides about an object that the cache would have refused: only
// what is true on the API server now may do that. v is the verdict by
// c.Classes, the classes of the cache; those are nil if it could not be read.
func (r *reviewer) judgeLive(ctx context.Context, req *admission.Request, s *subject, c Case, v Verdict, storedErr error) answer {
	if storedErr != nil {
		return r.inDoubt(s, &storedUndecodable{storedErr})
	}
	classes, err := r.classes.get(ctx)
	if err != nil {
		return r.inDoubt(s, err)
	}
	if classes != c.Classes {
		c.Classes = classes
		if v = Validate(c); len(v.Refused) == 0 {
			return r.accepted(s, c, v)
		}
	}
	if r.resource.submitted {
		return answer{outcome: OutcomeRefused, subject: s, verdict: v}
	}
	reading, span := startSpan(ctx, spanOwner)
	owner, err := readOwner(reading, r.live, req.Namespace, s.owner)
	endSpan(span, err)
	switch {
	case err != nil:
		return r.inDoubt(s, err)
	case owner.elsewhere:
		return answer{outcome: OutcomeOwnerElsewhere, subject: s, verdict: v}
	}
	c.Owner = owner.runtime
	if v = Validate(c); len(v.Refused) == 0 {
		return r.accepted(s, c, v)
	}
	return answer{outcome: OutcomeRefused, subject: s, verdict: v}
}

// judged tells whether a request is about what containers add. The
// configuration sends nothing else; a status, a scale or a deletion that
// arrives all the same must never be held up.
func judged(req *admission.Request) bool {
	return req.SubResource == "" &&
		(req.Operation == admissionv1.Create || req.Operation == admissionv1.Update)
}

func (r *reviewer) accepted(s *subject, c Case, v Verdict) answer {
	a := answer{outcome: OutcomeAllowed, subject: s, verdict: v}
	if len(v.Warnings) > 0 {
		a.outcome = OutcomeKept
	}
	if r.resource.submitted {
		a.verdict.Warnings = append(a.verdict.Warnings, StripWarnings(c.Runtime, c.Classes)...)
	}
	return a
}

func (r *reviewer) inDoubt(s *subject, why error) answer {
	outcome := OutcomeDoubtAllowed
	if r.resource.submitted {
		outcome = OutcomeDoubtRefused
	}
	return answer{outcome: outcome, subject: s, doubt: why}
}
