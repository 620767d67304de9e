package e2e

import (
	"crypto"
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
)

// admissionConfig has the API server show a client certificate to webhooks.
const admissionConfig = `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionWebhook
  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: DIR/webhooks.kubeconfig}
- name: MutatingAdmissionWebhook
  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: DIR/webhooks.kubeconfig}
`

const webhooksKubeconfig = `apiVersion: v1
kind: Config
users:
- name: '*'
  user: {client-certificate: apiserver.crt, client-key: apiserver.key}
`

// identity is a client certificate and the authority it is checked by, which
// here is the same.
type identity struct {
	cert tls.Certificate
	file string // with the authority
}

func newIdentity(t *testing.T, dir, name string) identity {
	t.Helper()
	key, err := keyutil.MakeEllipticPrivateKeyPEM()
	require.NoError(t, err)
	parsed, err := keyutil.ParsePrivateKeyPEM(key)
	require.NoError(t, err)
	ca, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: name}, parsed.(crypto.Signer))
	require.NoError(t, err)
	cert, err := certutil.EncodeCertificates(ca)
	require.NoError(t, err)
	file := filepath.Join(dir, name+".crt")
	require.NoError(t, os.WriteFile(file, cert, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".key"), key, 0o600))
	pair, err := tls.X509KeyPair(cert, key)
	require.NoError(t, err)
	return identity{pair, file}
}

// Both halves listen to the API server, which shows its certificate, and to
// nobody else.
func TestOnlyTheAPIServerMayCall(t *testing.T) {
	dir := t.TempDir()
	apiServer, stranger, namesake := newIdentity(t, dir, "apiserver"), newIdentity(t, dir, "stranger"), newIdentity(t, dir, "namesake")
	for name, text := range map[string]string{"admission.yaml": admissionConfig, "webhooks.kubeconfig": webhooksKubeconfig} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "DIR", dir)), 0o600)) // the API server takes no relative paths
	}
	// The namesake's authority is trusted too, and so it is its name that is refused.
	authorities := filepath.Join(dir, "both.crt")
	var both []byte
	for _, i := range []identity{apiServer, namesake} {
		data, err := os.ReadFile(i.file)
		require.NoError(t, err)
		both = append(both, data...)
	}
	require.NoError(t, os.WriteFile(authorities, both, 0o600))
	demand := []string{"--client-ca-file=" + authorities, "--client-allowed-names=apiserver"}
	s := start(t, environment.Options{
		ControlPlane: controlplane.Options{APIServerFlags: []string{"--admission-control-config-file=" + filepath.Join(dir, "admission.yaml")}},
		Webhook:      1, WebhookArgs: demand,
		Statuspatch: 1, StatuspatchArgs: append(demand, noLoop...),
		Without: []string{environment.Overlay},
	})

	refused := computeapi.NewWorkload(namespace, "refused", computeapi.WithClass("unikernel"), computeapi.WithAdd("CHOWN"))
	s.waitFor("the API server to be answered", func() (bool, string) {
		err := s.customer.Create(s.ctx, refused.DeepCopy(), client.DryRunAll)
		return apierrors.IsInvalid(err), errorText(err)
	})
	require.NoError(t, s.customer.Create(s.ctx, computeapi.NewWorkload(namespace, "passes", computeapi.WithClass("general-purpose"), computeapi.WithAdd("CHOWN"))))

	for half, p := range map[string]*environment.Process{"webhook": s.Webhooks[0], "statuspatch": s.Sidecars[0]} {
		address, err := p.Address(s.ctx, "reviews")
		require.NoError(t, err)
		for name, tc := range map[string]struct {
			certificates []tls.Certificate
			want         string // in the error; empty: an answer
		}{
			"the API server's certificate": {[]tls.Certificate{apiServer.cert}, ""},
			"none":                         {nil, "certificate required"},
			"another authority's":          {[]tls.Certificate{stranger.cert}, "unknown certificate authority"},
			"another name":                 {[]tls.Certificate{namesake.cert}, "bad certificate"},
		} {
			t.Run(half+", "+name, func(t *testing.T) {
				config := &tls.Config{InsecureSkipVerify: true, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					if len(tc.certificates) == 0 {
						return &tls.Certificate{}, nil
					}
					return &tc.certificates[0], nil
				}}
				if tc.want != "" {
					// The handshake is over for the client before the server has judged;
					// who writes then may learn of a broken connection instead of why.
					conn, err := tls.Dial("tcp", address, config)
					if err == nil {
						defer conn.Close()
						_, err = conn.Read(make([]byte, 1))
					}
					require.ErrorContains(t, err, tc.want)
					return
				}
				transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
				answer, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Post("https://"+address+"/", "application/json", strings.NewReader("{}"))
				require.NoError(t, err)
				require.NoError(t, answer.Body.Close())
				assert.Equal(t, http.StatusNotFound, answer.StatusCode, "there is no such path, but it was heard")
			})
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return "accepted"
	}
	return err.Error()
}
