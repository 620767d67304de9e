package webhook

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// respond turns an answer into what the API server passes on.
func (r *reviewer) respond(req *admission.Request, a answer) admission.Response {
	name := nameOf(req, a.subject)
	switch a.outcome {
	case OutcomeRefused:
		return denied(invalid(r.resource.kind, name, a.verdict.Errors()))
	case OutcomeDoubtRefused:
		return denied(doubtStatus(r.resource, name, a.doubt))
	case OutcomeDoubtAllowed:
		return allowed("the capabilities this object adds could not be checked: " + explain(a.doubt))
	case OutcomeWouldRefuse:
		return allowed(described("would be refused", a.verdict)...)
	case OutcomeOwnerElsewhere:
		return allowed(described("left to the provider, as the owner is not on this control plane", a.verdict)...)
	default:
		return allowed(a.verdict.Warnings...)
	}
}

// described turns causes into warnings, which have no path: each names its
// container.
func described(what string, v Verdict) []string {
	out := make([]string, len(v.Refused))
	for i, f := range v.Refused {
		where := ""
		if f.Rule != RuleClass {
			where = "container " + quote(f.Container) + ": "
		}
		out[i] = what + ": " + where + f.Err.Detail
	}
	return out
}

// invalid is what apierrors.NewInvalid makes, word for word; that one joins the
// causes in a time that grows with the square of their number.
func invalid(kind, name string, errs field.ErrorList) metav1.Status {
	causes := make([]metav1.StatusCause, len(errs))
	texts := make([]string, 0, len(errs))
	said := make(map[string]bool, len(errs))
	for i, err := range errs {
		body := err.ErrorBody()
		causes[i] = metav1.StatusCause{Type: metav1.CauseType(err.Type), Message: body, Field: err.Field}
		if text := err.Field + ": " + body; !said[text] {
			said[text] = true
			texts = append(texts, text)
		}
	}
	text := strings.Join(texts, ", ")
	if len(texts) > 1 {
		text = "[" + text + "]"
	}
	return metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnprocessableEntity,
		Reason:  metav1.StatusReasonInvalid,
		Details: &metav1.StatusDetails{Group: Group, Kind: kind, Name: name, Causes: causes},
		Message: kind + "." + Group + " " + strconv.Quote(name) + " is invalid: " + text,
	}
}

func denied(s metav1.Status) admission.Response {
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &s}}
}

func allowed(warnings ...string) admission.Response {
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{
		Allowed:  true,
		Result:   &metav1.Status{Code: http.StatusOK},
		Warnings: bounded(warnings),
	}}
}

// nameOf returns the name of the object as its author knows it: one that has
// none yet goes by the beginning of the name it will be given.
func nameOf(req *admission.Request, s *subject) string {
	if req.Name != "" || s == nil {
		return req.Name
	}
	if s.meta.Name != "" {
		return s.meta.Name
	}
	return s.meta.GenerateName
}

// log writes one line for a review that was, or would have been, refused or
// that could not be judged, and none for any other.
func (r *reviewer) log(ctx context.Context, req *admission.Request, a answer) {
	switch a.outcome {
	case OutcomeRefused, OutcomeWouldRefuse:
		logf.FromContext(ctx).Info("Capabilities not granted", append(r.about(req, a), "class", a.verdict.Refused[0].Class,
			"causes", len(a.verdict.Refused), "reason", a.verdict.Refused[0].Err)...)
	case OutcomeDoubtRefused, OutcomeDoubtAllowed:
		about := r.about(req, a)
		var p *panicked
		if errors.As(a.doubt, &p) {
			about = append(about, "panic", p.value, "stack", string(p.stack))
		}
		logf.FromContext(ctx).Error(a.doubt, "Capabilities could not be checked", about...)
	}
}

// about tells a log's reader which review is spoken of.
func (r *reviewer) about(req *admission.Request, a answer) []any {
	return []any{r.resource.kind, klog.KRef(req.Namespace, nameOf(req, a.subject)),
		"operation", req.Operation, "requestUID", req.UID, "outcome", a.outcome}
}
