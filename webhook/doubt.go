package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// panicked is a panic turned into an error. Its text tells a user nothing of
// the program; value and stack are for the log.
type panicked struct {
	value any
	stack []byte
}

func errPanic(value any) error { return &panicked{value: value, stack: debug.Stack()} }

func (*panicked) Error() string { return "an internal fault, which has been logged" }

// storedUndecodable says that it is the stored object that cannot be read, so
// that what may stay cannot be told.
type storedUndecodable struct{ err error }

func (e *storedUndecodable) Error() string { return "the stored object: " + e.err.Error() }
func (e *storedUndecodable) Unwrap() error { return e.err }

// readFailed says which read failed. Its text is for the log: it may hold
// addresses that are no user's business.
type readFailed struct {
	what string
	err  error
}

func (e *readFailed) Error() string { return e.what + ": " + e.err.Error() }
func (e *readFailed) Unwrap() error { return e.err }

// errSlow is the cause of a context that ends because the API server, which
// waits for the answer, is about to give up.
var errSlow = errors.New("no answer in time")

func isSlow(err error) bool {
	return errors.Is(err, errSlow) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// explain is a doubt in words for the author of the object.
func explain(why error) string {
	var read *readFailed
	if !errors.As(why, &read) {
		return why.Error()
	}
	var answered apierrors.APIStatus
	switch {
	case errors.As(why, &answered):
		return read.what + ": " + answered.Status().Message
	case isSlow(why):
		return read.what + ": " + errSlow.Error()
	case errors.As(why, new(*panicked)):
		return read.what + ": " + read.err.Error()
	default:
		return read.what + ": the API server gave no usable answer"
	}
}

// What the author of an object in doubt can do.
const (
	todoCorrect  = "correct the object and try again"
	todoAgain    = "try again, and tell the platform's operator if this persists"
	todoOperator = "tell the platform's operator"
)

// doubtStatus is the refusal of an object that could not be judged. It says
// why, that nothing was stored, and what to do, which depends on whose fault it
// is: the author's (422, 400), or ours (500, 503, 504).
func doubtStatus(r *resource, name string, why error) metav1.Status {
	var bad *undecodable
	var code int32
	var reason metav1.StatusReason
	todo := todoAgain
	switch {
	case errors.As(why, new(*storedUndecodable)):
		code, reason, todo = http.StatusInternalServerError, metav1.StatusReasonInternalError, todoOperator
	case errors.As(why, &bad) && bad.field != "":
		err := field.TypeInvalid(field.NewPath(bad.field), field.OmitValueType{}, bad.detail)
		return apierrors.NewInvalid(schema.GroupKind{Group: Group, Kind: r.kind}, name, field.ErrorList{err}).Status()
	case errors.As(why, &bad):
		code, reason, todo = http.StatusBadRequest, metav1.StatusReasonBadRequest, todoCorrect
	case isSlow(why):
		code, reason = http.StatusGatewayTimeout, metav1.StatusReasonTimeout
	case errors.As(why, new(*panicked)):
		code, reason = http.StatusInternalServerError, metav1.StatusReasonInternalError
	default:
		code, reason = http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable
	}
	return metav1.Status{
		Status: metav1.StatusFailure,
		Code:   code,
		Reason: reason,
		Message: fmt.Sprintf("the capabilities that %s %s adds could not be checked, so it was not stored: %s; %s",
			r.kind, quote(name), explain(why), todo),
		Details: &metav1.StatusDetails{Group: Group, Kind: r.kind, Name: name},
	}
}
