package statuspatch

import (
	"encoding/json"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// operation is one step of a JSON Patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// encodePatch opens the operations with the resourceVersion they were computed
// from. A replace of it makes the API server answer 409 on a conflict; a test
// would answer 422, which no client takes for one.
func encodePatch(resourceVersion string, operations []operation) ([]byte, error) {
	return json.Marshal(append([]operation{{"replace", "/metadata/resourceVersion", resourceVersion}}, operations...))
}

// setCondition is the smallest change that makes the condition at its index
// equal to want, member by member, so that members unknown here survive. add
// sets a member that is there and one that is missing alike.
func setCondition(at string, have *ledger.Condition, want metav1.Condition) []operation {
	at += "/" + strconv.Itoa(have.Index)
	var ops []operation
	set := func(member string, changed bool, value any) {
		if changed {
			ops = append(ops, operation{"add", at + "/" + member, value})
		}
	}
	set("status", have.Status != want.Status, want.Status)
	set("reason", have.Reason != want.Reason, want.Reason)
	set("message", have.Message != want.Message, want.Message)
	set("lastTransitionTime", !have.LastTransitionTime.Equal(&want.LastTransitionTime), want.LastTransitionTime)
	return ops
}

// addCondition appends a condition to the list at the path, or begins the list.
func addCondition(at string, listed bool, want metav1.Condition) operation {
	if listed {
		return operation{"add", at + "/-", want}
	}
	return operation{"add", at, []metav1.Condition{want}}
}
