package ledger

import "k8s.io/apimachinery/pkg/types"

// ObserveDeployment takes in a version that the watch delivered. An older one
// than is known changes nothing.
func (l *Ledger) ObserveDeployment(d *Deployment) {
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observeDeployment(d, &a)
}

func (l *Ledger) observeDeployment(d *Deployment, a *affected) {
	e := l.deployments[d.UID]
	if e == nil {
		e = &deploymentEntry{}
		l.deployments[d.UID] = e
	}
	if e.version != nil && !Newer(d.ResourceVersion, e.version.ResourceVersion) {
		return
	}
	if e.version != nil && e.version.Workload != d.Workload {
		l.unlink(d.UID, e.version.Workload, a)
	}
	e.version = d
	if !d.Workload.IsZero() {
		w := l.workload(d.Workload.UID)
		if w.deployments == nil {
			w.deployments = map[types.UID]*deploymentEntry{}
		}
		w.deployments[d.UID] = e
	}
	e.affects(d.Parent, a)
}

// RefreshDeployment takes in a version that was met outside the watch: the
// answer to a patch, a live read, the oldObject of a review. It only ever moves
// a deployment on that the watch has delivered, since one the watch has already
// seen deleted must not come back.
func (l *Ledger) RefreshDeployment(d *Deployment) {
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.deployments[d.UID]; e != nil && e.version != nil {
		l.observeDeployment(d, &a)
	}
}

// ForgetDeployment takes in a deletion that the watch delivered.
func (l *Ledger) ForgetDeployment(uid types.UID) {
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgetDeployment(uid, &a)
}

func (l *Ledger) forgetDeployment(uid types.UID, a *affected) {
	e := l.deployments[uid]
	if e == nil || e.version == nil {
		return
	}
	a.add(e.version.Parent)
	l.unlink(uid, e.version.Workload, a)
	e.version = nil
	l.dropDeployment(uid, e)
}

// ReplaceDeployments takes in a whole list: what it lacks is gone.
func (l *Ledger) ReplaceDeployments(list []*Deployment) {
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	listed := make(map[types.UID]bool, len(list))
	for _, d := range list {
		listed[d.UID] = true
	}
	for uid := range l.deployments {
		if !listed[uid] {
			l.forgetDeployment(uid, &a)
		}
	}
	for _, d := range list {
		l.observeDeployment(d, &a)
	}
}

// ObserveWorkload takes in a version that the watch delivered. An older one
// than is known changes nothing.
func (l *Ledger) ObserveWorkload(w *Workload) {
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observeWorkload(w, &a)
}

func (l *Ledger) observeWorkload(w *Workload, a *affected) {
	e := l.workload(w.UID)
	if e.version != nil && !Newer(w.ResourceVersion, e.version.ResourceVersion) {
		return
	}
	l.reported.move(e.version, w)
	e.version = w
	a.add(w.Parent)
}

// RefreshWorkload is RefreshDeployment for a Workload.
func (l *Ledger) RefreshWorkload(w *Workload) {
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.workloads[w.UID]; e != nil && e.version != nil {
		l.observeWorkload(w, &a)
	}
}

// ForgetWorkload takes in a deletion that the watch delivered.
func (l *Ledger) ForgetWorkload(uid types.UID) {
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgetWorkload(uid, &a)
}

func (l *Ledger) forgetWorkload(uid types.UID, a *affected) {
	e := l.workloads[uid]
	if e == nil || e.version == nil {
		return
	}
	a.add(e.version.Parent)
	l.reported.move(e.version, nil)
	e.version = nil
	l.dropWorkload(uid, e)
}

// ReplaceWorkloads takes in a whole list: what it lacks is gone.
func (l *Ledger) ReplaceWorkloads(list []*Workload) {
	var a affected
	defer l.tell(&a)
	l.mu.Lock()
	defer l.mu.Unlock()
	listed := make(map[types.UID]bool, len(list))
	for _, w := range list {
		listed[w.UID] = true
	}
	for uid := range l.workloads {
		if !listed[uid] {
			l.forgetWorkload(uid, &a)
		}
	}
	for _, w := range list {
		l.observeWorkload(w, &a)
	}
}

func (l *Ledger) workload(uid types.UID) *workloadEntry {
	e := l.workloads[uid]
	if e == nil {
		e = &workloadEntry{}
		l.workloads[uid] = e
	}
	return e
}

// unlink takes a deployment out of its Workload's sum.
func (l *Ledger) unlink(deployment types.UID, workload Parent, a *affected) {
	e := l.workloads[workload.UID]
	if e == nil {
		return
	}
	delete(e.deployments, deployment)
	if e.version != nil {
		a.add(workload)
	}
	l.dropWorkload(workload.UID, e)
}

// dropWorkload lets go of an entry that nothing needs any more.
func (l *Ledger) dropWorkload(uid types.UID, e *workloadEntry) {
	if e.version == nil && len(e.deployments) == 0 {
		delete(l.workloads, uid)
	}
}
