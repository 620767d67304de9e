package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The common name of makeSigned's certificates is "causeway", and they are for servers; a client's says so.
func makeClient(t *testing.T, now time.Time) (bundle []byte, cert *tls.Certificate) {
	t.Helper()
	m := makeCert(t, now.Add(-time.Hour), now.Add(time.Hour))
	return m.certPEM, &m.cert
}

func TestClientsAreJudgedAnewAtEachHandshake(t *testing.T) {
	now := time.Now()
	firstBundle, first := makeClient(t, now)
	secondBundle, second := makeClient(t, now)
	file := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(file, firstBundle, 0o600))
	clients, err := NewClients(ClientsOptions{File: file, Names: []string{"apiserver", "causeway"}})
	require.NoError(t, err)
	others, err := NewClients(ClientsOptions{File: file, Names: []string{"apiserver"}})
	require.NoError(t, err)

	// answers tells whether a server that demands certificates answers a client with this one.
	answers := func(c *Clients, cert *tls.Certificate) error {
		server := makeCert(t, now.Add(-time.Hour), now.Add(time.Hour))
		config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{server.cert}}
		c.Demand(config)
		near, far := net.Pipe()
		done := make(chan error, 1)
		go func() {
			conn := tls.Server(far, config)
			err := conn.Handshake()
			if err == nil {
				_, err = conn.Write([]byte("x"))
			}
			_ = conn.Close()
			done <- err
		}()
		ask := &tls.Config{InsecureSkipVerify: true}
		if cert != nil {
			ask.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil }
		}
		conn := tls.Client(near, ask)
		_, _ = io.ReadAll(conn)
		_ = conn.Close()
		return <-done
	}
	require.NoError(t, answers(clients, first))
	require.ErrorContains(t, answers(clients, nil), "didn't provide a certificate")
	require.ErrorContains(t, answers(clients, second), "unknown authority")
	require.EqualError(t, answers(others, first), `the client certificate is for "causeway", which may not call`)

	require.NoError(t, os.WriteFile(file, secondBundle, 0o600))
	require.NoError(t, clients.reload())
	require.NoError(t, answers(clients, second), "from the next handshake on")
	require.ErrorContains(t, answers(clients, first), "unknown authority")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	require.ErrorContains(t, clients.reload(), "reading the authorities of clients in "+file)
	require.NoError(t, answers(clients, second), "what cannot be read changes nothing")

	_, err = NewClients(ClientsOptions{File: file + "x"})
	require.ErrorContains(t, err, "no such file")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, clients.Start(ctx))
	assert.IsType(t, &x509.CertPool{}, clients.pool.Load())
}
