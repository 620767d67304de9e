package podstore

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

// Instance is what is kept of an Instance.
type Instance struct {
	types.NamespacedName
	UID             types.UID
	ResourceVersion string
	Deleting        bool
	Conditions      ledger.Conditions
	// Class and Containers are what Lacks needs of the spec: the class as it is
	// named, and the names of the sandbox's containers. Empty where nobody asks.
	Class      string
	Containers []string
}

// Decision is what an Instance's condition Available has to be, and the version
// of the Instance that was decided on.
type Decision struct {
	Instance   Instance
	Verdict    podstate.Verdict
	Correction podstate.Correction
}

// Store is safe for use by several goroutines.
type Store struct {
	options podstate.Options
	now     func() time.Time
	changed func(types.NamespacedName)

	mu        sync.Mutex
	pods      map[types.NamespacedName]*entry
	instances map[types.NamespacedName]*Instance
}

type entry struct {
	pod    *corev1.Pod
	owner  types.UID
	memory podstate.Memory
}

// New makes a store that calls changed after each change of an Instance or of
// its Pod.
func New(options podstate.Options, now func() time.Time, changed func(types.NamespacedName)) *Store {
	return &Store{options: options, now: now, changed: changed,
		pods: map[types.NamespacedName]*entry{}, instances: map[types.NamespacedName]*Instance{}}
}

// Judge is the verdict on the Pod of the Instance with the UID; false where none
// is known.
func (s *Store) Judge(name types.NamespacedName, uid types.UID) (podstate.Verdict, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.judge(name, uid)
}

func (s *Store) judge(name types.NamespacedName, uid types.UID) (podstate.Verdict, bool) {
	e := s.pods[name]
	if e == nil || e.owner != uid {
		return podstate.Verdict{}, false
	}
	now := s.now()
	e.memory = podstate.Observe(e.memory, e.pod, now)
	return podstate.Classify(e.pod, e.memory, now, s.options), true
}

// Decide is what is to be patched; false where the Pod or the Instance is not
// known, or the Instance is being deleted.
func (s *Store) Decide(name types.NamespacedName) (Decision, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.instances[name]
	if i == nil || i.Deleting {
		return Decision{}, false
	}
	v, ok := s.judge(name, i.UID)
	if !ok {
		return Decision{}, false
	}
	return Decision{*i, v, podstate.Correct(v, i.Conditions.Available.Value(), nil, s.now())}, true
}

// Names are all Instances with a Pod.
func (s *Store) Names() []types.NamespacedName {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]types.NamespacedName, 0, len(s.pods))
	for name := range s.pods {
		names = append(names, name)
	}
	return names
}
