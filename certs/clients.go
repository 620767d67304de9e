package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	certutil "k8s.io/client-go/util/cert"
)

// ClientsOptions configure Clients; File is required.
type ClientsOptions struct {
	// File holds the authorities, PEM, whose client certificates are taken.
	File string
	// Names are the common names of those who may call; none: whoever has such a certificate.
	Names []string
	// Interval between two looks at the file; zero means one second.
	Interval time.Duration
	// Logger; the zero value is silent.
	Logger logr.Logger
}

// Clients says whom a server listens to. A stranger is refused in the handshake, before a byte of a request is read.
type Clients struct {
	options ClientsOptions
	pem     []byte // what was read last; it belongs to Start
	pool    atomic.Pointer[x509.CertPool]
}

// NewClients reads the file once, so that one without authorities ends the process at its start.
func NewClients(o ClientsOptions) (*Clients, error) {
	if o.Interval <= 0 {
		o.Interval = defaultInterval
	}
	c := &Clients{options: o}
	return c, c.reload()
}

// Demand makes a server that has this configuration ask for a client certificate. Which authorities it may be signed by
// is looked up at each handshake, so that a renewed file is used from the next one on.
func (c *Clients) Demand(config *tls.Config) {
	config.ClientAuth = tls.RequireAndVerifyClientCert
	config.VerifyConnection = c.judge
	// A resumed session would be judged by the authorities of its first handshake.
	config.SessionTicketsDisabled = true
	base := config.Clone()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		current := base.Clone()
		current.ClientCAs = c.pool.Load()
		return current, nil
	}
}

// judge sees connections whose client certificate is good, and looks at its name.
func (c *Clients) judge(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("no client certificate")
	}
	name := state.PeerCertificates[0].Subject.CommonName
	if len(c.options.Names) > 0 && !slices.Contains(c.options.Names, name) {
		return fmt.Errorf("the client certificate is for %q, which may not call", name)
	}
	return nil
}

// Start follows the file until ctx ends.
func (c *Clients) Start(ctx context.Context) error {
	ticker := time.NewTicker(c.options.Interval)
	defer ticker.Stop()
	var lastError string // logged when it changes, not once a second
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		err := c.reload()
		switch {
		case err == nil:
			lastError = ""
		case err.Error() != lastError:
			lastError = err.Error()
			c.options.Logger.Error(err, "Kept the previous authorities of clients")
		}
	}
}

func (c *Clients) reload() error {
	data, err := os.ReadFile(c.options.File)
	if err != nil {
		return fmt.Errorf("reading the authorities of clients: %w", err)
	}
	if c.pool.Load() != nil && bytes.Equal(data, c.pem) {
		return nil
	}
	authorities, err := certutil.ParseCertsPEM(data)
	if err != nil {
		return fmt.Errorf("reading the authorities of clients in %s: %w", c.options.File, err)
	}
	pool := x509.NewCertPool()
	for _, a := range authorities {
		pool.AddCert(a)
	}
	if c.pool.Swap(pool) != nil {
		c.options.Logger.Info("Loaded new authorities of clients", "number", len(authorities))
	}
	c.pem = data
	return nil
}
