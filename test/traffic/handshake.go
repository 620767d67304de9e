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

// handshakeClient calls all processes in turn, as an API server does that has no
// connection yet. It calls them directly, since only one of each half is in
// rotation.
type handshakeClient struct {
	configurations typed.ValidatingWebhookConfigurationInterface
	processes      []*environment.Process
	names          []string
	turn           int
}

func (t *Traffic) newHandshakeClient() (*handshakeClient, error) {
	c, err := typed.NewForConfig(t.env.AdminConfig())
	if err != nil {
		return nil, err
	}
	h := &handshakeClient{configurations: c.ValidatingWebhookConfigurations()}
	for name, processes := range map[string][]*environment.Process{
		environment.ServiceWebhook: t.env.Webhooks, environment.ServiceStatus: t.env.Sidecars,
	} {
		for _, p := range processes {
			h.processes, h.names = append(h.processes, p), append(h.names, name)
		}
	}
	return h, nil
}

// shake dials one process and trusts what its configuration says now.
func (h *handshakeClient) shake(ctx context.Context) error {
	h.turn++
	p, name := h.processes[h.turn%len(h.processes)], h.names[h.turn%len(h.processes)]
	o, err := h.configurations.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading configuration %s: %w", name, err)
	}
	address, err := p.Address(ctx, "reviews")
	if err != nil {
		return err
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
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("shaking hands with %s: %w", p.Name, err)
	}
	return conn.Close()
}
