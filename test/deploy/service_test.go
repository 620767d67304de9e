package deploy

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/causeway-webhook/causeway/test/environment"
)

// service passes each new connection on to a process that is ready, and leaves those that are open alone, as a Service
// does: a process that stops has to end them itself.
type service struct {
	listener net.Listener
	mu       sync.Mutex
	backends []*environment.Process
}

func newService(t *testing.T) *service {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &service{listener: listener}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() { s.pass(ctx, c) })
		}
	})
	t.Cleanup(func() { cancel(); _ = listener.Close(); group.Wait() })
	return s
}

func (s *service) url() string { return "https://" + s.listener.Addr().String() }

func (s *service) set(backends ...*environment.Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backends = backends
}

func (s *service) pass(ctx context.Context, client net.Conn) {
	defer client.Close()
	s.mu.Lock()
	backends := s.backends
	s.mu.Unlock()
	for _, p := range backends {
		if p.Ended() || !p.Ready(ctx) {
			continue
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
		stop := context.AfterFunc(ctx, func() { _ = client.Close(); _ = server.Close() })
		defer stop()
		done := make(chan struct{})
		go func() { defer close(done); _, _ = io.Copy(server, client); _ = server.Close() }()
		_, _ = io.Copy(client, server)
		_ = client.Close()
		<-done
		return
	}
}
