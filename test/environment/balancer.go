package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Balancer passes TCP connections on to the process that is in rotation, as a
// Service does in a cluster. Without one, connections are closed at once.
// Connections to a process that is in rotation no more are cut.
type Balancer struct {
	listener   net.Listener
	inRotation Rotation
	cancel     context.CancelFunc
	group      sync.WaitGroup

	mu       sync.Mutex
	backends []*Process
	active   *Process
	conns    map[net.Conn]*Process
	open     bool
	held     bool
}

// Rotation is the probe that tells whether a process is in rotation.
type Rotation string

const (
	// ByReady is what a Service with a selector goes by.
	ByReady Rotation = "/readyz"
	// ByActive is true of the process that writes itself into the EndpointSlice
	// of the selector-less Service.
	ByActive Rotation = "/activez"
)

// StartBalancer listens on a free port of the loopback address.
func StartBalancer(rotation Rotation) (*Balancer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the balancer: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &Balancer{listener: listener, inRotation: rotation, cancel: cancel, conns: map[net.Conn]*Process{}, open: true}
	b.group.Go(func() { b.follow(ctx) })
	b.group.Go(func() { b.accept(ctx) })
	return b, nil
}

// URL is the base URL of whoever is active.
func (b *Balancer) URL() string { return "https://" + b.listener.Addr().String() }

// SetBackends replaces the processes that may be active.
func (b *Balancer) SetBackends(backends ...*Process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends = backends
}

// SetOpen lets connections pass, or refuses and cuts them all: webhooks that
// cannot be called.
func (b *Balancer) SetOpen(open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = open
	if !open {
		for c := range b.conns {
			_ = c.Close()
		}
	}
}

// Active is the process that connections are passed to, or nil. One that has
// ended is none, though no probe has told so yet.
func (b *Balancer) Active() *Process {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.active != nil && b.active.Ended() {
		return nil
	}
	return b.active
}

// Hold keeps connections on the process that is active now, whatever its probes
// say. On a busy machine one of them is answered late, and a connection cut for
// that would look like a fault of what a test is about.
func (b *Balancer) Hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = true
}

// Stop closes everything.
func (b *Balancer) Stop() {
	b.cancel()
	_ = b.listener.Close()
	b.SetOpen(false)
	b.group.Wait()
}

// follow asks all processes at once, so that one that hangs hides no other. One
// that hangs stays in rotation, as in a cluster, until another takes over.
func (b *Balancer) follow(ctx context.Context) {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		b.mu.Lock()
		backends, active := b.backends, b.active
		b.mu.Unlock()
		answers := make([]int, len(backends))
		var group sync.WaitGroup
		for i, p := range backends {
			group.Go(func() { answers[i], _ = p.probe(ctx, string(b.inRotation)) })
		}
		group.Wait()
		var next *Process
		for i, p := range backends {
			const none = 0
			if answers[i] == http.StatusOK || answers[i] == none && p == active && !p.Ended() && next == nil {
				next = p
			}
		}
		b.turn(next)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (b *Balancer) turn(active *Process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.active == active || b.held {
		return
	}
	b.active = active
	for c, p := range b.conns {
		if p != active {
			_ = c.Close()
		}
	}
}

func (b *Balancer) accept(ctx context.Context) {
	for {
		c, err := b.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		b.group.Go(func() { b.pass(ctx, c) })
	}
}

func (b *Balancer) pass(ctx context.Context, client net.Conn) {
	defer client.Close()
	p := b.Active()
	if p == nil {
		return
	}
	address, err := p.Address(ctx, "reviews")
	if err != nil {
		return
	}
	server, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	if !b.hold(p, client, server) {
		return
	}
	defer b.release(client, server)
	var group sync.WaitGroup
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		group.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			_ = client.Close()
			_ = server.Close()
		})
	}
	group.Wait()
}

func (b *Balancer) hold(p *Process, conns ...net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open || b.active != p {
		return false
	}
	for _, c := range conns {
		b.conns[c] = p
	}
	return true
}

func (b *Balancer) release(conns ...net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range conns {
		delete(b.conns, c)
	}
}
