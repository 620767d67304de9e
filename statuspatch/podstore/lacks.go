package podstore

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// DefaultGrants tells what a class grants by default, and by what name it goes:
// an empty one stands for the class that is marked default. It answers no
// capabilities where there is no such class, or it cannot be read.
type DefaultGrants func(class string) (name string, capabilities []string)

// Lacks are the containers of the Instance that crash at start-up and lack
// capabilities, with the UID of the Instance they are of; see podstate.Lacks. A
// container that the Instance does not have is the platform's own, and nobody
// else's to change.
func (s *Store) Lacks(name types.NamespacedName, grants DefaultGrants) (uid types.UID, lacks []rollup.Lack, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, e := s.instances[name], s.pods[name]
	if i == nil {
		return "", nil, time.Time{}
	}
	if e == nil || e.owner != i.UID {
		return i.UID, nil, time.Time{}
	}
	class, capabilities := grants(i.Class)
	now := s.now()
	e.memory = podstate.Observe(e.memory, e.pod, now)
	lacks, until = podstate.Lacks(e.pod, e.memory, class, capabilities, now)
	lacks = slices.DeleteFunc(lacks, func(l rollup.Lack) bool { return !slices.Contains(i.Containers, l.Container) })
	return i.UID, lacks, until
}
