package install

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// operators are the API groups of what others act on.
var operators = []string{"cert-manager.io", "monitoring.coreos.com"}

// WithoutOperators leaves out what cert-manager and the Prometheus Operator act
// on, for an API server that has neither them nor their CRDs: whoever serves
// there brings a certificate, and test/monitoring judges the rules.
func WithoutOperators(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool {
		return slices.Contains(operators, o.GroupVersionKind().Group)
	})
}
