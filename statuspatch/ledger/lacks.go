package ledger

import (
	"slices"

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

// counting are those that count: of an Instance that crashes, and of no other.
func (l lacks) counting(i *Instance) []rollup.Lack {
	if i == nil || i.UID != l.of || i.Contribution.Reason != reason.InstanceCrashing {
		return nil
	}
	return l.list
}

// ObserveLacks takes in what the containers of the Instance of this UID lack. Of
// one that the ledger does not hold nothing is kept.
func (l *Ledger) ObserveLacks(name types.NamespacedName, uid types.UID, list []rollup.Lack) {
	l.change(func(a *affected) {
		e := l.instances[name]
		if e == nil || e.effective().UID != uid || e.lacks.of == uid && slices.Equal(e.lacks.list, list) {
			return
		}
		l.edit(name, a, func(e *instanceEntry) { e.lacks = lacks{uid, list} })
	})
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
