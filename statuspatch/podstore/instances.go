package podstore

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// ObserveInstance takes in a version of an Instance, by watch or as the answer
// to a patch. An older one than is known changes nothing.
func (s *Store) ObserveInstance(i *Instance) {
	s.mu.Lock()
	known := s.instances[i.NamespacedName]
	if known != nil && !ledger.Newer(i.ResourceVersion, known.ResourceVersion) {
		s.mu.Unlock()
		return
	}
	s.instances[i.NamespacedName] = i
	s.mu.Unlock()
	s.changed(i.NamespacedName)
}

// ForgetInstance takes in a deletion.
func (s *Store) ForgetInstance(name types.NamespacedName, uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.instances[name]; i != nil && i.UID == uid {
		delete(s.instances, name)
	}
}

// ReplaceInstances takes in a whole list: what it lacks is gone.
func (s *Store) ReplaceInstances(list []*Instance) {
	listed := make(map[types.NamespacedName]types.UID, len(list))
	for _, i := range list {
		listed[i.NamespacedName] = i.UID
	}
	s.mu.Lock()
	for name, i := range s.instances {
		if listed[name] != i.UID {
			delete(s.instances, name)
		}
	}
	s.mu.Unlock()
	for _, i := range list {
		s.ObserveInstance(i)
	}
}
