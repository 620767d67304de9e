package environment

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/causeway-webhook/causeway/test/controlplane"
)

// WriteOperatorFiles writes into dir what an operator has of a cluster and this
// environment has not: Pods with logs, a Secret with the certificate. Call it
// again when processes have changed.
//
//	causeway               the binary, for audit
//	kubeconfig             of the user who installed all this
//	processes              a line each: name, process ID, probes, metrics
//	logs/<name>            what each has printed
//	tls                    the folder of the serving certificate
//	certificates/good      that certificate, to put it back
//	certificates/expired   one of the same names that has expired
//	not-started            why what ended could not be started again (KeepUp)
func (e *Environment) WriteOperatorFiles(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o700); err != nil {
		return fmt.Errorf("making a folder for the operator: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "tls")); errors.Is(err, os.ErrNotExist) {
		if err := e.writeCertificates(dir); err != nil {
			return err
		}
		if err := os.Symlink(e.options.Binary, filepath.Join(dir, "causeway")); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("making a folder for the operator: %w", err)
		}
		if err := controlplane.WriteKubeconfig(filepath.Join(dir, "kubeconfig"), e.AdminConfig()); err != nil {
			return err
		}
	}
	var lines strings.Builder
	for _, p := range append(append([]*Process(nil), e.Webhooks...), e.Sidecars...) {
		p.mu.Lock()
		fmt.Fprintf(&lines, "%s %d %s %s\n", p.Name, p.cmd.Process.Pid, p.addresses["probes"], p.addresses["metrics"])
		p.mu.Unlock()
		if err := os.WriteFile(filepath.Join(dir, "logs", p.Name), []byte(p.Log()), 0o600); err != nil {
			return fmt.Errorf("writing a log: %w", err)
		}
	}
	// By rename, so that whoever reads it finds the old or the new one, whole.
	part := filepath.Join(dir, "processes.part")
	if err := os.WriteFile(part, []byte(lines.String()), 0o600); err != nil {
		return fmt.Errorf("writing the list of processes: %w", err)
	}
	return os.Rename(part, filepath.Join(dir, "processes"))
}

// startAgainLimit is how long KeepUp waits for one process to be ready.
const startAgainLimit = 15 * time.Second

// KeepUp starts what has ended, as Revive does, and writes the files of
// WriteOperatorFiles anew. A process that does not get ready in time is ended
// and tried again at the next call; the error says what it lacked.
func (e *Environment) KeepUp(ctx context.Context, dir string) (ended []*Process, err error) {
	starting, cancel := context.WithTimeout(ctx, startAgainLimit)
	defer cancel()
	ended, err = e.Revive(starting)
	failure := ""
	if err != nil {
		failure = err.Error() + "\n"
	}
	return ended, errors.Join(err, e.WriteOperatorFiles(dir),
		os.WriteFile(filepath.Join(dir, "not-started"), []byte(failure), 0o600))
}

// writeCertificates writes the certificates that an operator may put in place.
func (e *Environment) writeCertificates(dir string) error {
	good, expired := filepath.Join(dir, "certificates", "good"), filepath.Join(dir, "certificates", "expired")
	if err := errors.Join(os.MkdirAll(filepath.Dir(good), 0o700), os.CopyFS(good, os.DirFS(e.certDir)), os.MkdirAll(expired, 0o700)); err != nil {
		return fmt.Errorf("copying the certificate: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.Unix()), Subject: pkix.Name{CommonName: ServiceWebhook},
		NotBefore: now.Add(-48 * time.Hour), NotAfter: now.Add(-24 * time.Hour),
		DNSNames:    []string{ServiceWebhook + "." + Namespace + ".svc", ServiceStatus + "." + Namespace + ".svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return fmt.Errorf("making a certificate: %w", err)
	}
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encoding a key: %w", err)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(expired, "tls.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(filepath.Join(expired, "tls.key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}), 0o600),
		os.Symlink(e.certDir, filepath.Join(dir, "tls")))
}
