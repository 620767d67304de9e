package webhook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The answer is the one that every other part of Kubernetes gives.
func FuzzInvalidIsTheOneOfTheAPI(f *testing.F) {
	f.Add("shop", "a\nb\na", "b")
	f.Add("", "", "")
	f.Add(`a "name"`, "one", "CHOWN\x00")
	f.Fuzz(func(t *testing.T, name, paths, written string) {
		var errs field.ErrorList
		for i, path := range strings.Split(paths, "\n") {
			switch i % 4 {
			case 0:
				errs = append(errs, forbidden(path, "it is not granted"))
			case 1:
				errs = append(errs, required(path, "no runtime class is the default"))
			case 2:
				errs = append(errs, misspelt(path, written, "write it in capitals"))
			default:
				errs = append(errs, &field.Error{Type: field.ErrorTypeNotSupported, Field: path, BadValue: written, Detail: "there are none"})
			}
		}
		want := apierrors.NewInvalid(schema.GroupKind{Group: Group, Kind: "Workload"}, name, errs).Status()
		assert.Equal(t, want, invalid("Workload", name, errs))
	})
}

// As package field makes them.
func TestCausesAreThoseOfPackageField(t *testing.T) {
	at := field.NewPath("spec").Child("runtime")
	assert.Equal(t, field.Forbidden(at, "no"), forbidden("spec.runtime", "no"))
	assert.Equal(t, field.Required(at, "no"), required("spec.runtime", "no"))
	assert.Equal(t, field.Invalid(at, "x", "no"), misspelt("spec.runtime", "x", "no"))
	assert.Equal(t, at.Index(12).String(), indexed("spec.runtime", 12))
}
