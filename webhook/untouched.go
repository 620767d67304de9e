package webhook

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/json"
)

// untouched tells whether an update leaves the runtime as it is stored. Such an
// update is never refused, whatever else is wrong: else neither a finalizer nor
// a label of an object stored before the rules could be changed. The match
// conditions keep it from being sent at all; this holds without them too, and
// for objects that do not decode.
func untouched(r *resource, old, updated []byte) bool {
	a, okA := valueAt(old, r.runtime)
	b, okB := valueAt(updated, r.runtime)
	return okA && okB && equality.Semantic.DeepEqual(a, b)
}

// valueAt walks down the fields of a JSON object. Where the way ends early it
// returns what stands there, so that equal values still mean an equal runtime.
func valueAt(raw []byte, fields []string) (any, bool) {
	var value any
	if err := json.UnmarshalCaseSensitivePreserveInts(raw, &value); err != nil {
		return nil, false
	}
	for _, f := range fields {
		object, ok := value.(map[string]any)
		if !ok {
			return value, true
		}
		value = object[f]
	}
	return value, true
}
