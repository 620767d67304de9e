package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
)

const (
	caFile                = "ca.crt"
	serverCertFile        = "apiserver.crt"
	serverKeyFile         = "apiserver.key"
	serviceAccountKeyFile = "service-account.key"
	authenticationFile    = "authentication.yaml"
	policyFile            = "policy.jsonl"
)

// Installer is the user to whom the ABAC policy grants everything.
const Installer = "installer"

// installerPolicy makes an ordinary user able to install anything. RBAC asks
// the authorizers, so this user may also grant what no role of its own holds,
// which otherwise needs system:masters, whose requests skip flow control.
const installerPolicy = `{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"` +
	Installer + `","namespace":"*","resource":"*","apiGroup":"*","nonResourcePath":"*"}}
`

// authenticationConfig lets anybody ask for health and nothing else: that is
// how a kubelet probes, and a test that forgot its credentials must not pass.
const authenticationConfig = `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous:
  enabled: true
  conditions:
  - path: /livez
  - path: /readyz
  - path: /healthz
`

// apiServer is the kube-apiserver and what it takes to start it again.
type apiServer struct {
	*process
	bin    string
	dir    string
	port   int
	etcd   string
	flags  []string
	ca     *authority
	out    io.Writer
	detach bool
}

func newAPIServerFiles(ca *authority) (map[string][]byte, error) {
	server, err := ca.server("kube-apiserver")
	if err != nil {
		return nil, err
	}
	signing, err := newSigningKey()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		caFile:                ca.certPEM,
		serverCertFile:        server.cert,
		serverKeyFile:         server.key,
		serviceAccountKeyFile: signing,
		authenticationFile:    []byte(authenticationConfig),
		policyFile:            []byte(installerPolicy),
	}, nil
}

func (s *apiServer) url() string { return fmt.Sprintf("https://127.0.0.1:%d", s.port) }

// args are the flags. The caller's come last, and so win over those here.
func (s *apiServer) args() []string {
	file := func(name string) string { return filepath.Join(s.dir, name) }
	return append([]string{
		"--etcd-servers=" + s.etcd,
		"--etcd-cafile=" + file(etcdCAFile),
		"--etcd-certfile=" + file(etcdClientCertFile),
		"--etcd-keyfile=" + file(etcdClientKeyFile),
		"--bind-address=127.0.0.1",
		// Else it looks for the address of a default route, which a machine without a
		// network does not have, and which must be of the family of the range below.
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", s.port),
		"--cert-dir=" + s.dir,
		"--tls-cert-file=" + file(serverCertFile),
		"--tls-private-key-file=" + file(serverKeyFile),
		"--client-ca-file=" + file(caFile),
		"--authentication-config=" + file(authenticationFile),
		"--authorization-mode=RBAC,ABAC",
		"--authorization-policy-file=" + file(policyFile),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + file(serviceAccountKeyFile),
		"--service-account-signing-key-file=" + file(serviceAccountKeyFile),
		"--service-cluster-ip-range=10.0.0.0/24",
		// Would write this loopback address into a Service, which it may not be.
		"--endpoint-reconciler-type=none",
		// Waits for a default service account that only a controller manager makes.
		"--disable-admission-plugins=ServiceAccount",
		"--profiling=false",
	}, s.flags...)
}

// start runs the server and waits until it is ready.
func (s *apiServer) start(ctx context.Context) error {
	cmd := exec.Command(s.bin, s.args()...)
	cmd.Dir = s.dir
	p, err := startProcess("kube-apiserver", cmd, filepath.Join(s.dir, "kube-apiserver.log"), s.out, s.detach)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.ca.cert)
	client := probeClient(&tls.Config{RootCAs: roots})
	if err := p.waitReady(ctx, func(ctx context.Context) error { return getOK(ctx, client, s.url()+"/readyz") }); err != nil {
		p.kill()
		return err
	}
	s.process = p
	return nil
}
