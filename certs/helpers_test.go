package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is the moment around which the certificates of these tests are valid.
var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// made is a fresh self-signed certificate in the two forms the tests need.
type made struct {
	certPEM, keyPEM []byte
	cert            tls.Certificate
}

func makeCert(t *testing.T, notBefore, notAfter time.Time, names ...string) made {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "causeway"},
		NotBefore:    notBefore,
		NotAfter:     notAfter,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	m := made{
		certPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		keyPEM:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}
	m.cert, err = tls.X509KeyPair(m.certPEM, m.keyPEM)
	require.NoError(t, err)
	return m
}

// signed is a serving certificate for "a.example" and the authority that signed it.
type signed struct {
	authority *x509.Certificate
	bundle    []byte
	cert      *tls.Certificate
}

func makeSigned(t *testing.T, now time.Time, lifetime time.Duration) signed {
	t.Helper()
	authority, key, err := issueAuthority(now, 3*lifetime)
	require.NoError(t, err)
	cert, err := issueServing(authority, key, []string{"a.example"}, now, lifetime)
	require.NoError(t, err)
	bundle, err := certutil.EncodeCertificates(authority)
	require.NoError(t, err)
	return signed{authority, bundle, cert}
}

// pem is the certificate and its key as files.
func (s signed) pem(t *testing.T) (cert, key []byte) {
	t.Helper()
	cert, err := certutil.EncodeCertificates(s.cert.Leaf)
	require.NoError(t, err)
	key, err = keyutil.MarshalPrivateKeyToPEM(s.cert.PrivateKey)
	require.NoError(t, err)
	return cert, key
}

// mount writes a version the way kubelet does: a new folder, then one rename of the symlink `..data`; tls.crt and
// tls.key themselves are symlinks through it that never change.
func mount(t *testing.T, dir, version string, certPEM, keyPEM []byte) {
	t.Helper()
	folder := filepath.Join(dir, ".."+version)
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, CertFile), certPEM, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, KeyFile), keyPEM, 0o600))
	old, _ := os.Readlink(filepath.Join(dir, "..data"))
	require.NoError(t, os.Symlink(".."+version, filepath.Join(dir, "..data_tmp")))
	require.NoError(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	if old != "" {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, old)))
		return
	}
	for _, name := range []string{CertFile, KeyFile} {
		require.NoError(t, os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)))
	}
}
