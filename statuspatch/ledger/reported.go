package ledger

import "maps"

// reported counts the stored Workloads by the reason of their Available, with
// those that have no such condition under the empty one.
type reported map[string]int

// move follows one Workload from one version to the next; either may be nil.
func (r reported) move(from, to *Workload) {
	if from != nil {
		said := saidBy(from)
		if r[said]--; r[said] == 0 {
			delete(r, said)
		}
	}
	if to != nil {
		r[saidBy(to)]++
	}
}

func saidBy(w *Workload) string {
	if w.Conditions.Available == nil {
		return ""
	}
	return w.Conditions.Available.Reason
}

// Reported is how many stored Workloads give which reason for being available
// or not; those without a condition Available count under the empty one.
func (l *Ledger) Reported() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.reported)
}
