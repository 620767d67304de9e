package e2e

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/traffic"
)

func retryOnConflict(do func() error) error { return retry.RetryOnConflict(retry.DefaultBackoff, do) }

// Two replicas of each half share one Secret and renew at once: a certificate
// good for twenty seconds, an authority for sixty. Two more authorities
// come and the first one goes, under traffic; then somebody deletes the Secret.
func TestSelfManagedCertificatesRenewUnderTraffic(t *testing.T) {
	short := []string{"--cert-mode=self-managed", "--ca-lifetime=60s", "--cert-lifetime=20s"}
	c := startSelfManaged(start(t, environment.Options{
		DeployOverlay: "self-managed", Webhook: 2, Statuspatch: 2,
		WebhookArgs: short, StatuspatchArgs: append(short, noLoop...),
	}))
	first := encode(c, c.certificates("ca.crt")[0])
	load, err := traffic.Start(c.ctx, c.Environment, namespace)
	require.NoError(t, err)

	authorities, leaves := map[string]bool{}, map[string]bool{}
	ctx, cancel := context.WithTimeout(c.ctx, 2*time.Minute)
	defer cancel()
	require.NoError(t, environment.WaitFor(ctx, "two renewals of the authority, and the end of the first", func() (bool, string) {
		for _, a := range c.certificates("ca.crt") {
			authorities[a.SerialNumber.String()] = true
		}
		leaves[c.certificates("tls.crt")[0].SerialNumber.String()] = true
		gone := true
		for _, bundle := range c.bundles() {
			gone = gone && !bytes.Contains(bundle, first)
		}
		require.NoError(t, load.Fault())
		return len(authorities) >= 3 && gone, fmt.Sprintf("%d authorities, %d certificates, the first is gone: %t", len(authorities), len(leaves), gone)
	}))
	assert.LessOrEqual(t, len(c.certificates("ca.crt")), 2, "old and new overlap, and no more")

	require.NoError(t, c.system.CoreV1().Secrets(environment.Namespace).Delete(c.ctx, selfManagedSecret, metav1.DeleteOptions{}))
	before := load.Counts()
	c.waitFor("all to go on with another Secret", func() (bool, string) {
		require.NoError(t, load.Fault())
		now := load.Counts()
		return now.Handshakes > before.Handshakes+100 && now.Created > before.Created+20 && now.StatusWrites > before.StatusWrites+20, now.String()
	})
	counts, err := load.Stop(c.ctx)
	require.NoError(t, err)
	t.Logf("%d authorities, %d certificates and a deleted Secret: %s, none failed", len(authorities), len(leaves), counts)
	assert.GreaterOrEqual(t, len(leaves), 6)
	for _, p := range append(c.Webhooks, c.Sidecars...) {
		assert.False(t, p.Ended(), "%s runs on", p.Name)
	}
}

// Exactly its own configurations are kept right; all replicas show the same
// certificate, also one that comes later, and say when it ends.
func TestSelfManagedCertificatesAreShared(t *testing.T) {
	mode := []string{"--cert-mode=self-managed"}
	c := startSelfManaged(start(t, environment.Options{
		DeployOverlay: "self-managed", Webhook: 2, Statuspatch: 1, WebhookArgs: mode, StatuspatchArgs: mode,
	}))
	foreign := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}}
	foreign, err := c.system.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(c.ctx, foreign, metav1.CreateOptions{})
	require.NoError(t, err)
	leaf := c.certificates("tls.crt")[0]
	assert.Equal(t, []string{"127.0.0.1"}, []string{leaf.IPAddresses[0].String()}, "it is for the names the configurations have")

	later, err := c.StartWebhook(c.ctx)
	require.NoError(t, err)
	for _, p := range append(c.Webhooks, later, c.Sidecars[0]) {
		metrics, err := p.Metrics(c.ctx)
		require.NoError(t, err)
		assert.Contains(t, metrics, fmt.Sprintf("causeway_certificate_expiry_timestamp_seconds %v\n", float64(leaf.NotAfter.Unix())), p.Name)
	}
	assert.Equal(t, leaf, c.certificates("tls.crt")[0], "nothing was due")

	c.wipeBundles()
	c.within(promise, "the configurations to be right again", c.trusted)
	for name, bundle := range c.bundles() {
		assert.Equal(t, 1, bytes.Count(bundle, []byte("BEGIN")), name)
	}
	after, err := c.system.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(c.ctx, "foreign", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, foreign.ResourceVersion, after.ResourceVersion)
}
