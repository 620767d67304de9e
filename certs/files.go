package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// File names inside the folder: the keys of a Secret of type kubernetes.io/tls.
const (
	CertFile = "tls.crt"
	KeyFile  = "tls.key"
)

// defaultInterval bounds how long a renewed certificate waits on disk. Kubelet itself takes up to a minute to bring it.
const defaultInterval = time.Second

// askEvery is how often the names are read under which this process is called, and askTimeout bounds one such read.
// While a new certificate waits to be trusted, they are read at each interval.
const (
	askEvery   = 30 * time.Second
	askTimeout = 5 * time.Second
)

// FilesOptions configure Files; only Dir is required.
type FilesOptions struct {
	// Dir is the folder with tls.crt and tls.key.
	Dir string
	// Callers tells who calls, and so for which names the certificate must be and when a new one is trusted. Nil, or an
	// error that satisfies apierrors.IsForbidden: nobody knows, so names are not judged and the newest is served.
	Callers func(context.Context) ([]Caller, error)
	// Interval between two looks at the files; zero means one second.
	Interval time.Duration
	// Settle is how long a new certificate must have been trusted before it is served; zero means three seconds.
	Settle time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Logger; the zero value is silent.
	Logger logr.Logger
}

// Files is a Source over two files that somebody else replaces.
//
// It reads them every second instead of watching them. Kubelet replaces a mounted Secret by renaming the symlink
// `..data`, which a watch on the files sees only as their removal, and on some mounts not at all; two small reads are
// cheaper than being wrong. controller-runtime's certwatcher, which watches, also keeps an old chain when only an
// intermediate changed, cannot say whether what it serves has expired, and leaves a goroutine behind.
type Files struct {
	options FilesOptions
	choice  choice
	names   atomic.Pointer[[]string]

	// What follows belongs to Start alone.
	read      *pair
	asked     time.Time
	lastError string // logged when it changes, not once a second
}

var _ Source = (*Files)(nil)

// pair is one reading of both files.
type pair struct {
	certPEM, keyPEM []byte
	cert            *tls.Certificate
}

// NewFiles reads the certificate once, so that a process without one ends at its start and not at its first review. An
// expired one is served all the same, and Ready says so: it may be renewed in place.
func NewFiles(o FilesOptions) (*Files, error) {
	if o.Dir == "" {
		return nil, errors.New("no folder for the serving certificate was given")
	}
	if o.Interval <= 0 {
		o.Interval = defaultInterval
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Settle <= 0 {
		o.Settle = defaultSettle
	}
	f := &Files{options: o, choice: choice{settle: o.Settle}}
	f.names.Store(&[]string{})
	p, err := read(o.Dir)
	if err != nil {
		return nil, err
	}
	f.read = p
	f.choice.offer(p.cert)
	return f, nil
}

// GetCertificate returns the newest certificate that could be read and is trusted.
func (f *Files) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return f.choice.served.Load(), nil
}

// Ready judges the certificate being served. Files that became unreadable do not count as long as it is good: they are
// half way through a change, or will be noticed when it expires.
func (f *Files) Ready() error {
	return Check(f.choice.served.Load(), *f.names.Load(), f.options.Now()).Err()
}

// Start follows the files until ctx ends.
func (f *Files) Start(ctx context.Context) error {
	ticker := time.NewTicker(f.options.Interval)
	defer ticker.Stop()
	for {
		f.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// look reads what is new and serves it when it is trusted.
func (f *Files) look(ctx context.Context) {
	err := f.reload()
	if now := f.options.Now(); f.choice.pending() || f.asked.IsZero() || now.Sub(f.asked).Abs() >= askEvery {
		f.asked = now
		err = errors.Join(err, f.ask(ctx))
	}
	switch {
	case err == nil || ctx.Err() != nil:
		f.lastError = ""
	case err.Error() != f.lastError:
		f.lastError = err.Error()
		f.options.Logger.Error(err, "Kept the previous serving certificate")
	}
}

// ask finds out who calls, and decides by that which certificate is served.
func (f *Files) ask(ctx context.Context) error {
	var callers []Caller
	if f.options.Callers != nil {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		var err error
		callers, err = f.options.Callers(ctx)
		// While nobody answers, the old certificate will do, as long as it is good.
		if err != nil && !apierrors.IsForbidden(err) && f.Ready() == nil {
			return err
		}
	}
	names := hostsOf(callers)
	f.names.Store(&names)
	if news := f.choice.decide(callers, f.options.Now()); news != "" {
		f.options.Logger.Info(news, "notAfter", stamp(f.choice.served.Load().Leaf.NotAfter), "names", namesOf(f.choice.served.Load().Leaf))
	}
	return nil
}

func (f *Files) reload() error {
	p, err := read(f.options.Dir)
	if err != nil {
		return err
	}
	if bytes.Equal(f.read.certPEM, p.certPEM) && bytes.Equal(f.read.keyPEM, p.keyPEM) {
		return nil
	}
	f.read = p
	f.choice.offer(p.cert)
	return nil
}

// read takes both files. They may be swapped between the two reads, so what does not fit is read once more.
func read(dir string) (*pair, error) {
	p, err := readOnce(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p, err = readOnce(dir)
	}
	return p, err
}

func readOnce(dir string) (*pair, error) {
	certPEM, err := readFile(filepath.Join(dir, CertFile))
	if err != nil {
		return nil, err
	}
	keyPEM, err := readFile(filepath.Join(dir, KeyFile))
	if err != nil {
		return nil, err
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("%s and %s in %s are no certificate with its private key: %w", CertFile, KeyFile, dir, err)
	}
	return &pair{certPEM: certPEM, keyPEM: keyPEM, cert: &cert}, nil
}

func readFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: mount a Secret of type kubernetes.io/tls at %s", err, filepath.Dir(path))
	}
	return data, err
}
