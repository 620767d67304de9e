package platform

import "sync"

// gate stops a controller between two passes. A pass holds it for reading, so
// closing it waits for the passes in flight: after close returned, nothing is
// written until open.
type gate struct {
	passes sync.RWMutex

	mu     sync.Mutex
	closed bool
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.passes.Lock()
		g.closed = true
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		g.passes.Unlock()
		g.closed = false
	}
}

// pass waits until the gate is open and returns what ends the pass.
func (g *gate) pass() (done func()) {
	g.passes.RLock()
	return g.passes.RUnlock
}
