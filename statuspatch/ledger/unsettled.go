package ledger

// Unsettled tells whether the roll-up of a parent rests on contributions that
// are pending, so that what it says may have to be taken back.
func (l *Ledger) Unsettled(p Parent) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.Kind == KindDeployment {
		d := l.deployments[p.UID]
		return d != nil && d.unsettled > 0
	}
	w := l.workloads[p.UID]
	if w == nil {
		return false
	}
	for _, d := range w.deployments {
		if d.unsettled > 0 {
			return true
		}
	}
	return false
}
