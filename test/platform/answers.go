package platform

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// answers holds what a test set for single objects, for whole namespaces and
// for everything. The narrowest answer counts.
type answers[T comparable] struct {
	mu  sync.RWMutex
	set map[types.NamespacedName]T
}

// put sets an answer; the zero value takes it back. A key without a name means
// its namespace, the zero key means everything.
func (a *answers[T]) put(key types.NamespacedName, answer T) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var none T
	if answer == none {
		delete(a.set, key)
		return
	}
	if a.set == nil {
		a.set = map[types.NamespacedName]T{}
	}
	a.set[key] = answer
}

// get returns the answer for an object, or otherwise.
func (a *answers[T]) get(key types.NamespacedName, otherwise T) T {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, k := range []types.NamespacedName{key, {Namespace: key.Namespace}, {}} {
		if answer, ok := a.set[k]; ok {
			return answer
		}
	}
	return otherwise
}
