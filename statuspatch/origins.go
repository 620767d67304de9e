package statuspatch

import (
	"sync"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// origins remembers why parents are in the loop's queue, which itself only
// knows that they are, until the loop is done with them. What it does not know
// of is an ordinary change.
type origins struct {
	mu  sync.Mutex
	why map[ledger.Parent]mending
}

func (o *origins) note(p ledger.Parent, why mending) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.why == nil {
		o.why = map[ledger.Parent]mending{}
	}
	o.why[p] = why
}

func (o *origins) take(p ledger.Parent) mending {
	o.mu.Lock()
	defer o.mu.Unlock()
	why, ok := o.why[p]
	if !ok {
		return mendedChange
	}
	delete(o.why, p)
	return why
}
