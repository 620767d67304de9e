package install

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// WithoutCertManager leaves out what cert-manager acts on, for an API server
// that has neither it nor its CRDs: whoever serves there brings a certificate.
func WithoutCertManager(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool {
		return o.GroupVersionKind().Group == "cert-manager.io"
	})
}
