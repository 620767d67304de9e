package kubectl

import (
	"errors"
	"fmt"
	"io"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// printError prints an error as kubectl does. Of an Invalid status kubectl shows
// the causes and not the message, so each cause has to be complete in itself.
func printError(w io.Writer, err error) {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		printf(w, "error: %v\n", err)
		return
	}
	status := answer.Status()
	switch status.Reason {
	case metav1.StatusReasonInvalid:
		printInvalid(w, status)
	case metav1.StatusReasonUnauthorized:
		printf(w, "error: You must be logged in to the server (%s)\n", status.Message)
	case metav1.StatusReasonUnknown:
		printf(w, "Error from server: %s\n", status.Message)
	default:
		printf(w, "Error from server (%s): %s\n", status.Reason, status.Message)
	}
}

func printInvalid(w io.Writer, status metav1.Status) {
	text := "The request is invalid"
	details := status.Details
	switch {
	case details == nil || (details.Kind == "" && details.Name == "" && len(details.Causes) == 0):
		if status.Message != "" {
			text += ": " + status.Message
		}
	case details.Kind != "" || details.Name != "":
		text = fmt.Sprintf("The %s %q is invalid", details.Kind, details.Name)
	}
	var causes []string
	if details != nil {
		for _, c := range details.Causes {
			// kubectl says the same thing once.
			if cause := c.Field + ": " + c.Message; !slices.Contains(causes, cause) {
				causes = append(causes, cause)
			}
		}
	}
	switch len(causes) {
	case 0:
		printf(w, "%s\n", text)
	case 1:
		printf(w, "%s: %s\n", text, causes[0])
	default:
		printf(w, "%s: \n", text)
		for _, cause := range causes {
			printf(w, "* %s\n", cause)
		}
	}
}
