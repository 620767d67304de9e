package traffic

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typed "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"

	"github.com/causeway-webhook/causeway/test/environment"
)

// handshakeClient calls the two halves in turn as an API server does that has
// no connection yet.
type handshakeClient struct {
	configurations typed.ValidatingWebhookConfigurationInterface
	turn           int
}

func (t *Traffic) newHandshakeClient() (*handshakeClient, error) {
	c, err := typed.NewForConfig(t.env.AdminConfig())
	if err != nil {
		return nil, err
	}
	return &handshakeClient{configurations: c.ValidatingWebhookConfigurations()}, nil
}

// shake dials one half and trusts what its configuration says now.
func (h *handshakeClient) shake(ctx context.Context) error {
	h.turn++
	name := []string{environment.ServiceWebhook, environment.ServiceStatus}[h.turn%2]
	o, err := h.configurations.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading configuration %s: %w", name, err)
	}
	called := o.Webhooks[0].ClientConfig
	if called.URL == nil {
		return errors.New("configuration " + name + " has no URL")
	}
	u, err := url.Parse(*called.URL)
	if err != nil {
		return err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(called.CABundle)
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: trusted, ServerName: u.Hostname()}}
	conn, err := dialer.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return fmt.Errorf("shaking hands with %s: %w", name, err)
	}
	return conn.Close()
}
