package certs

import (
	"context"
	"crypto/tls"
)

// Source is where a server's certificate comes from.
type Source interface {
	// GetCertificate answers one TLS handshake; it fits tls.Config.GetCertificate.
	GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Start keeps the certificate current until ctx ends, then returns nil. It leaves no goroutine behind.
	Start(ctx context.Context) error
	// Ready is nil while clients can trust what GetCertificate returns, as far as that can be told from here; else the
	// error says in one line what is wrong.
	Ready() error
}
