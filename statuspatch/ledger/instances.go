package ledger

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// ObserveInstance takes in a version that the watch delivered. An older one
// than is known changes nothing.
func (l *Ledger) ObserveInstance(i *Instance) {
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observe(i, &a)
}

func (l *Ledger) observe(i *Instance, a *affected) {
	before := l.instances[i.NamespacedName]
	if before.seen != nil && !Newer(i.ResourceVersion, before.seen.ResourceVersion) {
		return
	}
	after := before
	after.seen = i
	if after.pending != nil && Newer(i.ResourceVersion, after.pending.base) {
		after.pending = nil
	}
	l.update(i.NamespacedName, before, after, a)
}

// ForgetInstance takes in a deletion that the watch delivered. A pending entry
// for a successor of the same name stays.
func (l *Ledger) ForgetInstance(name types.NamespacedName, uid types.UID) {
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.instances[name]
	after := before
	if after.seen != nil && after.seen.UID == uid {
		after.seen = nil
	}
	if after.pending != nil && after.pending.UID == uid {
		after.pending = nil
	}
	l.update(name, before, after, &a)
}

// ReplaceInstances takes in a whole list: what it lacks is gone, unless it is
// pending, for a list may be older than the review; those settle by themselves.
func (l *Ledger) ReplaceInstances(list []*Instance) {
	listed := make(map[types.NamespacedName]types.UID, len(list))
	for _, i := range list {
		listed[i.NamespacedName] = i.UID
	}
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, e := range l.instances {
		if e.seen != nil && listed[name] != e.seen.UID {
			after := e
			after.seen = nil
			l.update(name, e, after, &a)
		}
	}
	for _, i := range list {
		l.observe(i, &a)
	}
}

// Propose makes a review's new contribution pending on the version the review
// was based on. It answers false where a newer version than that has been seen
// already: such a write will conflict, and the API server asks again. The
// Instance is kept and must not be changed after.
func (l *Ledger) Propose(i *Instance, base string, now time.Time) (ok bool) {
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.instances[i.NamespacedName]
	if before.seen != nil && Newer(before.seen.ResourceVersion, base) ||
		before.pending != nil && Newer(before.pending.base, base) {
		return false
	}
	after := before
	after.pending = &pending{i, base, now}
	l.update(i.NamespacedName, before, after, &a)
	return true
}

// Pending tells since when an Instance's contribution is pending, if it is.
func (l *Ledger) Pending(name types.NamespacedName) (since time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.instances[name]; e.pending != nil {
		return e.pending.since, true
	}
	return time.Time{}, false
}

// Settle ends the pending entry that was made at since by what a live read
// found: the stored version, or nil where there is none. An entry made later
// stays, for the read may not have seen its write.
func (l *Ledger) Settle(name types.NamespacedName, since time.Time, live *Instance) {
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.instances[name]
	if before.pending == nil || !before.pending.since.Equal(since) {
		return
	}
	after := before
	after.pending = nil
	if live == nil || after.seen == nil || Newer(live.ResourceVersion, after.seen.ResourceVersion) {
		after.seen = live
	}
	l.update(name, before, after, &a)
}

// update puts one entry in another's place and carries the difference into the
// tallies.
func (l *Ledger) update(name types.NamespacedName, before, after instanceEntry, a *affected) {
	if before == after {
		return
	}
	if before.pending != nil {
		l.pendings--
	}
	if after.pending != nil {
		l.pendings++
	}
	if after.effective() == nil {
		delete(l.instances, name)
	} else {
		l.instances[name] = after
	}
	if same(before.effective(), after.effective()) && slices.Equal(before.lacking(), after.lacking()) {
		l.succeed(before, after)
		return
	}
	l.retract(before, a)
	l.count(after, a)
}

// same tells that two versions of an Instance add the same to the same tally.
func same(a, b *Instance) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Deployment == b.Deployment && a.Member == b.Member && a.Contribution == b.Contribution
}

// succeed has a version follow one that adds the same: no parent can tell the
// two apart, but the older one must not be held on to.
func (l *Ledger) succeed(before, after instanceEntry) {
	i := after.effective()
	if i == nil || i.Deployment.IsZero() {
		return
	}
	d := l.deployments[i.Deployment.UID]
	d.tally.replace(i)
	d.unsettled += after.unsettled() - before.unsettled()
}

func (l *Ledger) count(e instanceEntry, a *affected) {
	i := e.effective()
	if i == nil || i.Deployment.IsZero() {
		return
	}
	d := l.deployments[i.Deployment.UID]
	if d == nil {
		d = &deploymentEntry{}
		l.deployments[i.Deployment.UID] = d
	}
	d.tally.add(i)
	d.tally.lack(e.lacking(), 1)
	d.unsettled += e.unsettled()
	d.affects(i.Deployment, a)
}

// retract takes back what count did for the same entry.
func (l *Ledger) retract(e instanceEntry, a *affected) {
	i := e.effective()
	if i == nil || i.Deployment.IsZero() {
		return
	}
	d := l.deployments[i.Deployment.UID]
	d.tally.remove(i)
	d.tally.lack(e.lacking(), -1)
	d.unsettled -= e.unsettled()
	d.affects(i.Deployment, a)
	l.dropDeployment(i.Deployment.UID, d)
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
