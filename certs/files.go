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
)

// File names inside the folder: the keys of a Secret of type kubernetes.io/tls.
const (
	CertFile = "tls.crt"
	KeyFile  = "tls.key"
)

// defaultInterval bounds how long a renewed certificate waits on disk. Kubelet itself takes up to a minute to bring it.
const defaultInterval = time.Second

// FilesOptions configure Files; only Dir is required.
type FilesOptions struct {
	// Dir is the folder with tls.crt and tls.key.
	Dir string
	// Names under which clients call; none: names are not judged.
	Names []string
	// Interval between two looks at the files; zero means one second.
	Interval time.Duration
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
	current atomic.Pointer[pair]
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
	f := &Files{options: o}
	p, err := read(o.Dir)
	if err != nil {
		return nil, err
	}
	f.current.Store(p)
	return f, nil
}

// GetCertificate returns the newest certificate that could be read.
func (f *Files) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return f.current.Load().cert, nil
}

// Ready judges the certificate being served. Files that became unreadable do not count as long as it is good: they are
// half way through a change, or will be noticed when it expires.
func (f *Files) Ready() error {
	return Check(f.current.Load().cert, f.options.Names, f.options.Now()).Err()
}

// Start follows the files until ctx ends.
func (f *Files) Start(ctx context.Context) error {
	ticker := time.NewTicker(f.options.Interval)
	defer ticker.Stop()
	var lastError string // logged when it changes, not once a second
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		err := f.reload()
		switch {
		case err == nil:
			lastError = ""
		case err.Error() != lastError:
			lastError = err.Error()
			f.options.Logger.Error(err, "Kept the previous serving certificate")
		}
	}
}

func (f *Files) reload() error {
	p, err := read(f.options.Dir)
	if err != nil {
		return err
	}
	if old := f.current.Load(); bytes.Equal(old.certPEM, p.certPEM) && bytes.Equal(old.keyPEM, p.keyPEM) {
		return nil
	}
	f.current.Store(p)
	leaf, err := leafOf(p.cert)
	if err != nil {
		return err
	}
	f.options.Logger.Info("Loaded a new serving certificate", "notAfter", stamp(leaf.NotAfter), "names", namesOf(leaf))
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
