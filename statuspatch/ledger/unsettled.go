package ledger

import "k8s.io/apimachinery/pkg/types"

// unsettled counts, for each deployment, the Instances whose contribution is
// pending: what a request is about to store, and may yet never be stored.
type unsettled map[types.UID]int

// move follows one Instance from one pending entry to the next; either may be
// nil.
func (u unsettled) move(from, to *pending) {
	if from == to {
		return
	}
	if from != nil && !from.Deployment.IsZero() {
		if u[from.Deployment.UID]--; u[from.Deployment.UID] == 0 {
			delete(u, from.Deployment.UID)
		}
	}
	if to != nil && !to.Deployment.IsZero() {
		u[to.Deployment.UID]++
	}
}

// Unsettled tells whether the roll-up of a parent rests on contributions that
// are pending, so that what it says may have to be taken back.
func (l *Ledger) Unsettled(p Parent) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.Kind == KindDeployment {
		return l.unsettled[p.UID] > 0
	}
	w := l.workloads[p.UID]
	if w == nil {
		return false
	}
	for uid := range w.deployments {
		if l.unsettled[uid] > 0 {
			return true
		}
	}
	return false
}
