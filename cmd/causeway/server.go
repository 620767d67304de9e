package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
)

// Bounds of one request. The API server waits 30 s at most for a webhook and 5 s for Causeway's; what takes longer than
// these is no review.
const (
	headerTimeout  = 5 * time.Second
	requestTimeout = 30 * time.Second
	maxHeaderBytes = 64 << 10
)

// newTLSServer is an HTTPS server, such as the one that the API server calls.
//
// controller-runtime's webhook.Server would do, but for its end: it closes the listener the moment its context ends,
// while the Service still sends requests here. It also sets no bound on a request's body or answer.
func newTLSServer(handler http.Handler, certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error), logger logr.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      requestTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		// The API server keeps one connection for a long time and pays a handshake, inside some customer's request, when
		// it is closed. A dead peer is found by ping instead.
		IdleTimeout: time.Hour,
		HTTP2:       &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		TLSConfig: &tls.Config{
			MinVersion:     tls.VersionTLS12,
			GetCertificate: certificate,
			NextProtos:     []string{"h2", "http/1.1"},
		},
		ErrorLog: quietLog(logger),
	}
}

// newPlainServer serves probes and metrics.
func newPlainServer(handler http.Handler, logger logr.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      requestTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          quietLog(logger),
	}
}

// listener is a server with the address it was given.
type listener struct {
	name   string
	server *http.Server
	socket net.Listener
}

// listen takes the address at once, so that one already in use ends the process at its start.
func listen(ctx context.Context, name, flag, address string, server *http.Server) (*listener, error) {
	socket, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot serve %s: %w: choose another --%s", name, err, flag)
	}
	return &listener{name: name, server: server, socket: socket}, nil
}

// serve answers until shutdown or close. It returns nil for both.
func (l *listener) serve() error {
	var err error
	if l.server.TLSConfig != nil {
		err = l.server.ServeTLS(l.socket, "", "")
	} else {
		err = l.server.Serve(l.socket)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serving %s: %w", l.name, err)
}

// shutdown lets requests in flight finish as long as ctx lasts. Kept HTTP/2 connections are told to go away, which makes
// the API server send its next review over a new one, to whoever is in rotation then.
func (l *listener) shutdown(ctx context.Context, logger logr.Logger) {
	if err := l.server.Shutdown(ctx); err != nil {
		logger.Error(err, "Cut requests that did not finish in time", "server", l.name)
		l.close()
	}
}

func (l *listener) close() {
	_ = l.server.Close()
	_ = l.socket.Close() // for a server that was never served; closing twice is harmless
}
