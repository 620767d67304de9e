package kubectl

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func status(reason metav1.StatusReason, message string, details *metav1.StatusDetails) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Reason: reason, Message: message, Details: details,
	}}
}

// The texts are those of kubectl 1.37.
func TestPrintError(t *testing.T) {
	one := metav1.StatusCause{Field: "spec.a", Message: "Forbidden: no"}
	two := metav1.StatusCause{Field: "spec.b", Message: "Required value"}
	named := func(causes ...metav1.StatusCause) *metav1.StatusDetails {
		return &metav1.StatusDetails{Kind: "Workload", Name: "api", Causes: causes}
	}
	workloads := schema.GroupResource{Group: "g", Resource: "workloads"}
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"invalid, one cause": {
			status(metav1.StatusReasonInvalid, "not shown", named(one)),
			"The Workload \"api\" is invalid: spec.a: Forbidden: no\n",
		},
		"invalid, several causes, one twice": {
			status(metav1.StatusReasonInvalid, "not shown", named(one, two, one)),
			"The Workload \"api\" is invalid: \n* spec.a: Forbidden: no\n* spec.b: Required value\n",
		},
		"invalid, no cause": {
			status(metav1.StatusReasonInvalid, "not shown", named()),
			"The Workload \"api\" is invalid\n",
		},
		"invalid, without details": {
			status(metav1.StatusReasonInvalid, "it is odd", nil),
			"The request is invalid: it is odd\n",
		},
		"invalid, causes of nobody": {
			status(metav1.StatusReasonInvalid, "not shown", &metav1.StatusDetails{Causes: []metav1.StatusCause{one}}),
			"The request is invalid: spec.a: Forbidden: no\n",
		},
		"forbidden, from a file": {
			withSource("creating", "x.yaml", status(metav1.StatusReasonForbidden, "admission webhook \"w\" denied the request: no", nil)),
			"Error from server (Forbidden): error when creating \"x.yaml\": admission webhook \"w\" denied the request: no\n",
		},
		"not found": {
			apierrors.NewNotFound(workloads, "api"),
			"Error from server (NotFound): workloads.g \"api\" not found\n",
		},
		"unauthorized": {
			status(metav1.StatusReasonUnauthorized, "Unauthorized", nil),
			"error: You must be logged in to the server (Unauthorized)\n",
		},
		"no reason": {
			status(metav1.StatusReasonUnknown, "it broke", nil),
			"Error from server: it broke\n",
		},
		"no answer": {
			withSource("creating", "x.yaml", errors.New("connection refused")),
			"error: error when creating \"x.yaml\": connection refused\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			printError(&out, tc.err)
			assert.Equal(t, tc.want, out.String())
		})
	}
}
