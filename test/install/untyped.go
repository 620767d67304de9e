package install

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Untyped are objects, which have to bear their kind, as Install takes them.
func Untyped(objects ...runtime.Object) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, o := range objects {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			return nil, fmt.Errorf("reading %T: %w", o, err)
		}
		out = append(out, &unstructured.Unstructured{Object: content})
	}
	return out, nil
}
