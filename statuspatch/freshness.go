package statuspatch

import (
	"sync/atomic"
	"time"
)

// freshness tells how much a watch has delivered and when it last heard from
// the API server, by an event or by a bookmark, which comes every minute where
// nothing happens. A watch that stays silent for longer is one that lost its
// API server without noticing.
type freshness struct {
	events atomic.Uint64
	// heard is in nanoseconds since 1970; 0 for a watch that has not begun.
	heard atomic.Int64
}

// begin is called when the watch begins. Workloads may never be watched: not
// every control plane has them.
func (f *freshness) begin() { f.UpdateResourceVersion("") }

// event notes something that the watch delivered.
func (f *freshness) event() { f.events.Add(1) }

// UpdateResourceVersion is called by the reflector after every event and every
// bookmark.
func (f *freshness) UpdateResourceVersion(string) { f.heard.Store(time.Now().UnixNano()) }

// age is how long ago the watch last heard, or began; ok is false for one that
// has not begun.
func (f *freshness) age(now time.Time) (age time.Duration, ok bool) {
	at := f.heard.Load()
	return max(0, now.Sub(time.Unix(0, at))), at != 0
}
