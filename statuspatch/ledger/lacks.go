package ledger

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// lacks are what the containers of one Instance lack. They come from its Pod,
// apart from its status, and stay until they are told anew.
type lacks struct {
	of   types.UID
	list []rollup.Lack
}

// lacking are those that count: of an Instance that crashes, and of no other.
func (e instanceEntry) lacking() []rollup.Lack {
	if e.lacks == nil {
		return nil
	}
	i := e.effective()
	if i == nil || i.UID != e.lacks.of || i.Contribution.Reason != reason.InstanceCrashing {
		return nil
	}
	return e.lacks.list
}

// ObserveLacks takes in what the containers of the Instance of this UID lack. Of
// one that the ledger does not hold nothing is kept.
func (l *Ledger) ObserveLacks(name types.NamespacedName, uid types.UID, list []rollup.Lack) {
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.instances[name]
	if i := before.effective(); i == nil || i.UID != uid {
		return
	}
	after := before
	if after.lacks = nil; len(list) > 0 {
		after.lacks = &lacks{uid, list}
	}
	l.update(name, before, after, &a)
}

// lack counts each of them for as many Instances as have it.
func (t *tally) lack(list []rollup.Lack, by int) {
	for _, one := range list {
		if t.lacks == nil {
			t.lacks = map[rollup.Lack]int{}
		}
		if t.lacks[one] += by; t.lacks[one] == 0 {
			delete(t.lacks, one)
		}
	}
}
