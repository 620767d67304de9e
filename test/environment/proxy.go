package environment

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
)

// Proxy stands between statuspatch and the API server and goes wrong when told.
// It ends TLS, so that it can tell requests apart, and passes the account's
// token on. Nobody else goes through it.
type Proxy struct {
	server    *http.Server
	transport *http.Transport
	listener  *faultListener
	ca        []byte
	served    sync.WaitGroup

	mu    sync.Mutex
	fault Fault
	seen  []string
	ended []string
}

// A Fault decides about one request. It answers true where it has dealt with the
// request, which is then not passed on.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// StartProxy listens on a free port of the loopback address and passes on to the
// API server that config reaches.
func StartProxy(config *rest.Config) (*Proxy, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.CAData)
	cert, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making the proxy's certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("making the proxy's certificate: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	p := &Proxy{
		transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true},
		listener:  &faultListener{Listener: listener, conns: map[*faultConn]struct{}{}},
		ca:        cert,
	}
	quiet := log.New(io.Discard, "", 0)
	onward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     p.transport,
		FlushInterval: -1, // a watch event must not wait for the next
		ModifyResponse: func(r *http.Response) error {
			if r.Request.URL.Query().Get("watch") != "" {
				r.Body = &watchBody{ReadCloser: r.Body, path: r.Request.URL.Path, end: p.watchEnded}
			}
			return nil
		},
		ErrorLog: quiet,
		// The API server is away: so is the proxy, as far as anybody can tell.
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, _ error) { cut(r) },
	}
	p.server = &http.Server{
		Handler:     http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.handle(onward, w, r) }),
		TLSConfig:   &tls.Config{Certificates: []tls.Certificate{pair}},
		ErrorLog:    quiet,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	p.served.Go(func() { _ = p.server.ServeTLS(p.listener, "", "") })
	return p, nil
}

func (p *Proxy) handle(onward http.Handler, w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	fault := p.fault
	p.seen = append(p.seen, r.Method+" "+r.URL.RequestURI())
	p.mu.Unlock()
	if fault == nil || !fault(w, r) {
		onward.ServeHTTP(w, r)
	}
}

// Config is an account's way to the API server through the proxy.
func (p *Proxy) Config(account *rest.Config) *rest.Config {
	config := rest.CopyConfig(account)
	config.Host, config.CAData = "https://"+p.listener.Addr().String(), p.ca
	return config
}

// SetFault has each request from now on meet the fault; nil ends it.
func (p *Proxy) SetFault(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

// Seen counts the requests so far that contain all of the parts, of
// "METHOD /path?query".
func (p *Proxy) Seen(parts ...string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	count := 0
	for _, line := range p.seen {
		all := true
		for _, part := range parts {
			all = all && strings.Contains(line, part)
		}
		if all {
			count++
		}
	}
	return count
}

// WatchErrors are the errors with which the API server ended watches so far, each
// as "/path {event}".
func (p *Proxy) WatchErrors() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.ended)
}

func (p *Proxy) watchEnded(path, event string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, path+" "+event)
}

// watchBody notes the error that a watch ends with: the last of its events, in
// JSON and on a line of its own.
type watchBody struct {
	io.ReadCloser
	path string
	end  func(path, event string)
	line []byte
}

// Read passes on what it reads.
func (b *watchBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	for _, c := range into[:n] {
		if c != '\n' {
			b.line = append(b.line, c)
			continue
		}
		if bytes.HasPrefix(b.line, []byte(`{"type":"ERROR"`)) {
			b.end(b.path, string(b.line))
		}
		b.line = b.line[:0]
	}
	return n, err
}

// Cut closes every connection there is. New ones pass.
func (p *Proxy) Cut() { p.listener.each((*faultConn).reset) }

// Freeze lets no packet through any more on the connections there are, in either
// direction, and closes none: what a lost route does. New ones pass.
func (p *Proxy) Freeze() { p.listener.each((*faultConn).freeze) }

// Thaw lets everything through again that was kept back.
func (p *Proxy) Thaw() {
	p.listener.set(func(l *faultListener) { l.silent = false })
	p.listener.each((*faultConn).thaw)
}

// SetSilent freezes the connections there are and all that come, or thaws them.
func (p *Proxy) SetSilent(silent bool) {
	if !silent {
		p.Thaw()
		return
	}
	p.listener.set(func(l *faultListener) { l.silent = true })
	p.Freeze()
}

// SetGone cuts and refuses all connections, or accepts them again.
func (p *Proxy) SetGone(gone bool) {
	p.listener.set(func(l *faultListener) { l.gone = gone })
	if gone {
		p.Cut()
	}
}

// Stop closes everything.
func (p *Proxy) Stop() {
	p.Cut()
	_ = p.server.Close()
	p.listener.each((*faultConn).reset)
	p.served.Wait()
	p.transport.CloseIdleConnections()
}

// On is a fault for the requests that match alone.
func On(match func(*http.Request) bool, f Fault) Fault {
	return func(w http.ResponseWriter, r *http.Request) bool { return match(r) && f(w, r) }
}

// ParentWrites are the patches of Workloads' and deployments' statuses.
func ParentWrites(r *http.Request) bool {
	return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/status")
}

// Delay has a request wait before it is passed on.
func Delay(d time.Duration) Fault {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return false
		case <-r.Context().Done():
			return true
		}
	}
}

// Answer answers with a status code, as the API server does. retryAfter, in
// seconds, is left out if 0.
func Answer(code, retryAfter int) Fault {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "application/json")
		if retryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
		}
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"told to fail","code":%d}`, code)
		return true
	}
}

// HangUp cuts the connection a request comes by.
func HangUp(_ http.ResponseWriter, r *http.Request) bool {
	cut(r)
	return true
}

// Hold has requests wait until release is closed. arrived, if it has room, is
// told of each.
func Hold(arrived chan<- struct{}, release <-chan struct{}) Fault {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case arrived <- struct{}{}:
		default:
		}
		select {
		case <-release:
			return false
		case <-r.Context().Done():
			return true
		}
	}
}

type connKey struct{}

// cut closes the connection a request came by, and ends its handler.
func cut(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*tls.Conn); ok {
		if f, ok := c.NetConn().(*faultConn); ok {
			f.reset()
		}
	}
	panic(http.ErrAbortHandler)
}

type faultListener struct {
	net.Listener

	mu           sync.Mutex
	conns        map[*faultConn]struct{}
	silent, gone bool
}

func (l *faultListener) set(change func(*faultListener)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l)
}

func (l *faultListener) each(do func(*faultConn)) {
	l.mu.Lock()
	conns := make([]*faultConn, 0, len(l.conns))
	for c := range l.conns {
		conns = append(conns, c)
	}
	l.mu.Unlock()
	for _, c := range conns {
		do(c)
	}
}

// Accept answers connections that freeze and break when told.
func (l *faultListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		f := &faultConn{Conn: c, listener: l, closed: make(chan struct{}), open: make(chan struct{})}
		close(f.open)
		l.mu.Lock()
		gone := l.gone
		if l.silent {
			f.freeze() // under the lock, or it might miss the thaw that comes next
		}
		l.conns[f] = struct{}{}
		l.mu.Unlock()
		if gone {
			f.reset()
			continue
		}
		return f, nil
	}
}

// faultConn keeps back what is sent while it is frozen. The peer's kernel takes
// its packets for delivered late, as it does when a route comes back.
type faultConn struct {
	net.Conn
	listener *faultListener

	once   sync.Once
	closed chan struct{}

	mu     sync.Mutex
	frozen bool
	open   chan struct{} // closed while not frozen
}

func (c *faultConn) freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.frozen {
		c.frozen, c.open = true, make(chan struct{})
	}
}

func (c *faultConn) thaw() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen {
		c.frozen = false
		close(c.open)
	}
}

// pass returns when the connection is not frozen.
func (c *faultConn) pass() error {
	c.mu.Lock()
	open := c.open
	c.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-c.closed:
		return net.ErrClosed
	}
}

// Read reads what is let through.
func (c *faultConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	// Also the end of a connection is a packet.
	if blocked := c.pass(); blocked != nil {
		return 0, blocked
	}
	return n, err
}

// Write returns when what it writes is let through.
func (c *faultConn) Write(b []byte) (int, error) {
	if err := c.pass(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// Close closes the connection, in order unless it is frozen.
func (c *faultConn) Close() error {
	err := errors.New("closed already")
	c.once.Do(func() {
		close(c.closed)
		err = c.Conn.Close()
		c.listener.mu.Lock()
		defer c.listener.mu.Unlock()
		delete(c.listener.conns, c)
	})
	return err
}

// reset breaks the connection.
func (c *faultConn) reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
