package ledger

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// ObserveInstance takes in a version that the watch delivered. An older one
// than is known changes nothing.
func (l *Ledger) ObserveInstance(i *Instance) {
	l.change(func(a *affected) { l.observe(i, a) })
}

func (l *Ledger) observe(i *Instance, a *affected) {
	e := l.instances[i.NamespacedName]
	if e != nil && e.seen != nil && !Newer(i.ResourceVersion, e.seen.ResourceVersion) {
		return
	}
	l.edit(i.NamespacedName, a, func(e *instanceEntry) {
		e.seen = i
		if e.pending != nil && Newer(i.ResourceVersion, e.pending.base) {
			e.pending = nil
		}
	})
}

// ForgetInstance takes in a deletion that the watch delivered. A pending entry
// for a successor of the same name stays.
func (l *Ledger) ForgetInstance(name types.NamespacedName, uid types.UID) {
	l.change(func(a *affected) { l.forget(name, uid, a) })
}

func (l *Ledger) forget(name types.NamespacedName, uid types.UID, a *affected) {
	if l.instances[name] == nil {
		return
	}
	l.edit(name, a, func(e *instanceEntry) {
		if e.seen != nil && e.seen.UID == uid {
			e.seen = nil
		}
		if e.pending != nil && e.pending.UID == uid {
			e.pending = nil
		}
	})
}

// ReplaceInstances takes in a whole list: what it lacks is gone, unless it is
// pending, for a list may be older than the review; those settle by themselves.
func (l *Ledger) ReplaceInstances(list []*Instance) {
	l.change(func(a *affected) {
		listed := make(map[types.NamespacedName]types.UID, len(list))
		for _, i := range list {
			listed[i.NamespacedName] = i.UID
		}
		for name, e := range l.instances {
			if e.seen != nil && listed[name] != e.seen.UID {
				l.edit(name, a, func(e *instanceEntry) { e.seen = nil })
			}
		}
		for _, i := range list {
			l.observe(i, a)
		}
	})
}

// Propose makes a review's new contribution pending on the version the review
// was based on. It answers false where a newer version than that has been seen
// already: such a write will conflict, and the API server asks again.
func (l *Ledger) Propose(i *Instance, base string, now time.Time) (ok bool) {
	l.change(func(a *affected) {
		if e := l.instances[i.NamespacedName]; e != nil {
			if e.seen != nil && Newer(e.seen.ResourceVersion, base) {
				return
			}
			if e.pending != nil && Newer(e.pending.base, base) {
				return
			}
		}
		ok = true
		l.edit(i.NamespacedName, a, func(e *instanceEntry) {
			e.pending = &pending{Instance: *i, base: base, since: now}
		})
	})
	return ok
}

// Pending tells since when an Instance's contribution is pending, if it is.
func (l *Ledger) Pending(name types.NamespacedName) (since time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.instances[name]; e != nil && e.pending != nil {
		return e.pending.since, true
	}
	return time.Time{}, false
}

// Settle ends the pending entry that was made at since by what a live read
// found: the stored version, or nil where there is none. An entry made later
// stays, for the read may not have seen its write.
func (l *Ledger) Settle(name types.NamespacedName, since time.Time, live *Instance) {
	l.change(func(a *affected) {
		e := l.instances[name]
		if e == nil || e.pending == nil || !e.pending.since.Equal(since) {
			return
		}
		l.edit(name, a, func(e *instanceEntry) {
			e.pending = nil
			switch {
			case live == nil:
				e.seen = nil
			case e.seen == nil || Newer(live.ResourceVersion, e.seen.ResourceVersion):
				e.seen = live
			}
		})
	})
}

// edit changes one entry and carries the difference into the tallies.
func (l *Ledger) edit(name types.NamespacedName, a *affected, change func(*instanceEntry)) {
	e := l.instances[name]
	if e == nil {
		e = &instanceEntry{}
		l.instances[name] = e
	}
	before, proposed := e.effective(), e.pending
	lacked := e.lacks.counting(before)
	change(e)
	after := e.effective()
	l.unsettled.move(proposed, e.pending)
	if after == nil {
		delete(l.instances, name)
	}
	lacking := e.lacks.counting(after)
	if same(before, after) && slices.Equal(lacked, lacking) {
		return
	}
	if before != nil {
		l.retract(before, lacked, a)
	}
	if after != nil {
		l.count(after, lacking, a)
	}
}

// same tells that two versions of an Instance add the same to the same tally.
func same(a, b *Instance) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Deployment == b.Deployment && a.Member == b.Member && a.Contribution == b.Contribution
}

func (l *Ledger) count(i *Instance, lacking []rollup.Lack, a *affected) {
	if i.Deployment.IsZero() {
		return
	}
	e := l.deployments[i.Deployment.UID]
	if e == nil {
		e = &deploymentEntry{}
		l.deployments[i.Deployment.UID] = e
	}
	e.tally.add(i)
	e.tally.lack(lacking, 1)
	e.affects(i.Deployment, a)
}

func (l *Ledger) retract(i *Instance, lacked []rollup.Lack, a *affected) {
	e := l.deployments[i.Deployment.UID]
	if e == nil {
		return
	}
	e.tally.remove(i)
	e.tally.lack(lacked, -1)
	e.affects(i.Deployment, a)
	l.dropDeployment(i.Deployment.UID, e)
}

func (e *deploymentEntry) affects(p Parent, a *affected) {
	a.add(p)
	if e.version != nil {
		a.add(e.version.Workload)
	}
}

// dropDeployment lets go of an entry that nothing needs any more.
func (l *Ledger) dropDeployment(uid types.UID, e *deploymentEntry) {
	if e.version == nil && e.tally.seen == 0 {
		delete(l.deployments, uid)
	}
}
