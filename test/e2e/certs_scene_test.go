package e2e

import (
	"bytes"
	"crypto/x509"
	"fmt"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	certutil "k8s.io/client-go/util/cert"

	"github.com/causeway-webhook/causeway/test/environment"
)

// selfManagedSecret is where deploy/overlays/self-managed keeps its certificate.
const selfManagedSecret = "causeway-self-managed"

// certScene is a scene in which the certificate is what counts.
type certScene struct {
	*scene
	system kubernetes.Interface
}

// startSelfManaged runs two processes of each half, with these further
// arguments, and returns when the installer's own authority is out of the
// configurations: from then on only what Causeway writes is trusted.
func startSelfManaged(s *scene) *certScene {
	s.t.Helper()
	system, err := kubernetes.NewForConfig(s.AdminConfig())
	require.NoError(s.t, err)
	c := &certScene{scene: s, system: system}
	c.wipeBundles()
	c.waitFor("the configurations to trust again", c.trusted)
	return c
}

// secret is what the replicas share.
func (c *certScene) secret() *corev1.Secret {
	c.t.Helper()
	o, err := c.system.CoreV1().Secrets(environment.Namespace).Get(c.ctx, selfManagedSecret, metav1.GetOptions{})
	require.NoError(c.t, err)
	return o
}

// certificates reads one key of the Secret.
func (c *certScene) certificates(key string) []*x509.Certificate {
	c.t.Helper()
	all, err := certutil.ParseCertsPEM(c.secret().Data[key])
	require.NoError(c.t, err)
	return all
}

// bundles are the caBundles of all webhooks of Causeway's configurations.
func (c *certScene) bundles() map[string][]byte {
	c.t.Helper()
	all := map[string][]byte{}
	for _, name := range []string{environment.ServiceWebhook, environment.ServiceStatus} {
		o, err := c.system.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(c.ctx, name, metav1.GetOptions{})
		require.NoError(c.t, err)
		for _, w := range o.Webhooks {
			all[w.Name] = w.ClientConfig.CABundle
		}
	}
	o, err := c.system.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(c.ctx, "causeway-overlay", metav1.GetOptions{})
	require.NoError(c.t, err)
	for _, w := range o.Webhooks {
		all[w.Name] = w.ClientConfig.CABundle
	}
	return all
}

// wipeBundles writes nonsense of an installer's over all of them.
func (c *certScene) wipeBundles() {
	c.t.Helper()
	validating, mutating := c.system.AdmissionregistrationV1().ValidatingWebhookConfigurations(), c.system.AdmissionregistrationV1().MutatingWebhookConfigurations()
	for _, name := range []string{environment.ServiceWebhook, environment.ServiceStatus} {
		require.NoError(c.t, retryOnConflict(func() error {
			o, err := validating.Get(c.ctx, name, metav1.GetOptions{})
			require.NoError(c.t, err)
			for i := range o.Webhooks {
				o.Webhooks[i].ClientConfig.CABundle = nil
			}
			_, err = validating.Update(c.ctx, o, metav1.UpdateOptions{})
			return err
		}))
	}
	require.NoError(c.t, retryOnConflict(func() error {
		o, err := mutating.Get(c.ctx, "causeway-overlay", metav1.GetOptions{})
		require.NoError(c.t, err)
		for i := range o.Webhooks {
			o.Webhooks[i].ClientConfig.CABundle = nil
		}
		_, err = mutating.Update(c.ctx, o, metav1.UpdateOptions{})
		return err
	}))
}

// trusted tells whether every webhook trusts all authorities of the Secret.
func (c *certScene) trusted() (bool, string) {
	authorities := c.certificates("ca.crt")
	for name, bundle := range c.bundles() {
		for _, a := range authorities {
			if !bytes.Contains(bundle, encode(c, a)) {
				return false, fmt.Sprintf("%s does not trust the authority until %s", name, a.NotAfter)
			}
		}
	}
	return true, ""
}

func encode(c *certScene, a *x509.Certificate) []byte {
	pem, err := certutil.EncodeCertificates(a)
	require.NoError(c.t, err)
	return bytes.TrimSpace(pem)
}
