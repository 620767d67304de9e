package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestNewFilesSaysWhatToDo(t *testing.T) {
	good := makeCert(t, noon.Add(-time.Hour), noon.Add(time.Hour))
	other := makeCert(t, noon.Add(-time.Hour), noon.Add(time.Hour))
	for name, tc := range map[string]struct {
		files map[string][]byte
		want  string // after the folder's name was replaced by DIR
	}{
		"no files":  {want: "open DIR/tls.crt: no such file or directory: mount a Secret of type kubernetes.io/tls at DIR"},
		"no key":    {files: map[string][]byte{CertFile: good.certPEM}, want: "open DIR/tls.key: no such file or directory: mount a Secret of type kubernetes.io/tls at DIR"},
		"other key": {files: map[string][]byte{CertFile: good.certPEM, KeyFile: other.keyPEM}, want: "tls.crt and tls.key in DIR are no certificate with its private key: tls: private key does not match public key"},
		"no PEM":    {files: map[string][]byte{CertFile: []byte("x"), KeyFile: good.keyPEM}, want: "tls.crt and tls.key in DIR are no certificate with its private key: tls: failed to find any PEM data in certificate input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			require.NoError(t, os.Mkdir("DIR", 0o755))
			for file, data := range tc.files {
				require.NoError(t, os.WriteFile(filepath.Join("DIR", file), data, 0o600))
			}
			_, err := NewFiles(FilesOptions{Dir: "DIR"})
			assert.EqualError(t, err, tc.want)
		})
	}
	_, err := NewFiles(FilesOptions{})
	assert.EqualError(t, err, "no folder for the serving certificate was given")
}

func TestFilesReadyFollowsTheClock(t *testing.T) {
	dir, now := t.TempDir(), noon
	c := makeCert(t, noon.Add(-time.Hour), noon.Add(time.Hour), "a.example")
	mount(t, dir, "1", c.certPEM, c.keyPEM)
	f, err := NewFiles(FilesOptions{Dir: dir, Now: func() time.Time { return now }})
	require.NoError(t, err)
	assert.NoError(t, f.Ready())
	now = noon.Add(2 * time.Hour)
	assert.EqualError(t, f.Ready(), "the certificate expired at 2030-01-01T13:00:00Z, and it is 2030-01-01T14:00:00Z")
}

func TestFilesFollowsKubelet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		first := makeCert(t, time.Now(), time.Now().Add(time.Hour))
		second := makeCert(t, time.Now(), time.Now().Add(2*time.Hour))
		mount(t, dir, "1", first.certPEM, first.keyPEM)
		f, err := NewFiles(FilesOptions{Dir: dir})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- f.Start(ctx) }()
		serves := func(want made, why string) {
			t.Helper()
			time.Sleep(defaultInterval + time.Millisecond)
			synctest.Wait()
			got, err := f.GetCertificate(nil)
			require.NoError(t, err)
			require.Equal(t, want.cert.Certificate, got.Certificate, why)
		}

		serves(first, "nothing changed")
		mount(t, dir, "2", second.certPEM, second.keyPEM)
		serves(second, "the symlink was swapped")
		mount(t, dir, "3", first.certPEM, second.keyPEM)
		serves(second, "a pair that does not fit is not taken")
		require.NoError(t, f.Ready(), "what is served is still good")
		mount(t, dir, "4", nil, nil)
		serves(second, "nor are empty files")
		mount(t, dir, "5", first.certPEM, first.keyPEM)
		serves(first, "the next good one is")

		chain := append(append([]byte{}, first.certPEM...), second.certPEM...)
		mount(t, dir, "6", chain, first.keyPEM)
		time.Sleep(defaultInterval + time.Millisecond)
		synctest.Wait()
		got, err := f.GetCertificate(nil)
		require.NoError(t, err)
		require.Len(t, got.Certificate, 2, "an intermediate that is added under the same leaf is served")

		cancel()
		require.NoError(t, <-done)
	})
}

func TestEachHandshakeGetsTheNewest(t *testing.T) {
	dir := t.TempDir()
	valid := func() made {
		return makeCert(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour), "127.0.0.1")
	}
	first, second := valid(), valid()
	mount(t, dir, "1", first.certPEM, first.keyPEM)
	f, err := NewFiles(FilesOptions{Dir: dir})
	require.NoError(t, err)

	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: f.GetCertificate})
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, conn) // drives the handshake, ends with the client
			_ = conn.Close()
		}
	}()
	handshake := func(trust made) error {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(trust.certPEM)
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", listener.Addr().String(), &tls.Config{RootCAs: pool})
		if err != nil {
			return err
		}
		return conn.Close()
	}

	require.NoError(t, handshake(first))
	mount(t, dir, "2", second.certPEM, second.keyPEM)
	f.look(t.Context())
	require.NoError(t, handshake(second), "the next handshake shows the new certificate")
	require.Error(t, handshake(first), "and no longer the old one")
	require.NoError(t, listener.Close())
	<-served
}

// What cert-manager does in an order it does not promise: the files are new before the configurations trust them.
func TestFilesWaitUntilTheyAreTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		old, fresh := makeSigned(t, time.Now(), time.Hour), makeSigned(t, time.Now(), time.Hour)
		place := func(version string, s signed) {
			cert, key := s.pem(t)
			mount(t, dir, version, cert, key)
		}
		place("1", old)
		var mu sync.Mutex
		var callers []Caller
		var fault error
		asked := 0
		answer := func(host string, bundle []byte, err error) {
			mu.Lock()
			defer mu.Unlock()
			callers, fault = []Caller{{host, bundle}}, err
		}
		answer("a.example", old.bundle, nil)
		f, err := NewFiles(FilesOptions{Dir: dir, Callers: func(context.Context) ([]Caller, error) {
			mu.Lock()
			defer mu.Unlock()
			asked++
			return callers, fault
		}})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- f.Start(ctx) }()
		after := func(d time.Duration, want signed, why string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			got, err := f.GetCertificate(nil)
			require.NoError(t, err)
			require.Equal(t, want.cert.Certificate, got.Certificate, why)
			require.NoError(t, f.Ready())
		}
		after(20*time.Second, old, "nothing changed")
		mu.Lock()
		require.Equal(t, 1, asked, "and nobody is asked")
		mu.Unlock()
		place("2", fresh)
		after(20*time.Minute, old, "nobody trusts the new one")
		answer("", nil, errors.New("no answer"))
		after(time.Minute, old, "nobody answers")
		answer("a.example", slices.Concat(old.bundle, fresh.bundle), nil)
		after(2*time.Second, old, "it is trusted, but only just")
		after(3*time.Second, fresh, "it is trusted")

		place("3", old)
		answer("", nil, apierrors.NewForbidden(schema.GroupResource{}, "", nil))
		after(2*time.Second, old, "who may not ask serves the newest")

		place("4", fresh)
		answer("b.example", fresh.bundle, nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualError(t, f.Ready(), `the certificate is not for "b.example" but for ["a.example"]`)

		answer("a.example", old.bundle, nil)
		place("5", old)
		after(2*time.Second, old, "")
		time.Sleep(2 * time.Hour)
		place("6", makeSigned(t, time.Now(), time.Hour))
		answer("", nil, errors.New("no answer"))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.NoError(t, f.Ready(), "what has expired is not kept, whoever answers")
		cancel()
		require.NoError(t, <-done)
	})
}
