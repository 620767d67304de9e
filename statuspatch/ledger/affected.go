package ledger

import "slices"

// few is how many parents one Instance's update affects: a deployment and its
// Workload. Two of each where it moves from one to the other.
const few = 2

// affected gathers the parents that a change affects, to notify of them once
// the lock is released. The first few need no memory of their own.
type affected struct {
	few  [few]Parent
	n    int
	more []Parent
}

// add takes a parent in. Few are kept apart from each other; of many, as a list
// affects, some may be named twice.
func (a *affected) add(p Parent) {
	switch {
	case p.IsZero() || slices.Contains(a.few[:a.n], p):
	case a.n < few:
		a.few[a.n] = p
		a.n++
	default:
		a.more = append(a.more, p)
	}
}

// tell notifies of what is affected. It is called without the lock.
func (l *Ledger) tell(a *affected) {
	for _, p := range a.few[:a.n] {
		l.notify(p)
	}
	for _, p := range a.more {
		l.notify(p)
	}
}
