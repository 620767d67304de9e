package certmanager

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/traffic"
)

// The serving certificate is renewed three times, then the authority three
// times, each followed by the serving certificate; then a certificate outruns
// its authority. No request fails and no process restarts.
func TestNoRequestFailsWhileCertificatesAreRenewed(t *testing.T) {
	w := start(t)
	const namespace = "shop"
	require.NoError(t, w.CreateNamespace(w.ctx, namespace))
	load, err := traffic.Start(w.ctx, w.Environment, namespace)
	require.NoError(t, err)
	last := load.Counts()
	// Between two steps there is traffic of each kind.
	step := func(what string) {
		t.Helper()
		w.waitFor("traffic after "+what, func() (bool, string) {
			require.NoError(t, load.Fault(), what)
			now := load.Counts()
			return now.Created > last.Created+5 && now.Refused > last.Refused+5 && now.StatusWrites > last.StatusWrites+5 && now.Handshakes > last.Handshakes+20, now.String()
		})
		last = load.Counts()
	}
	renewServing := func() {
		t.Helper()
		w.renew(serving)
		leaf := w.leaf()
		w.waitFor("the new certificate to be served", func() (bool, string) { return w.serves(leaf) })
	}

	for range 3 {
		renewServing()
		step("a renewal")
	}
	for range 3 {
		w.renew(authority)
		w.waitFor("the new authority to be trusted", func() (bool, string) { return w.trusted(), "not by all" })
		step("a renewal of the authority")
		renewServing()
		step("a renewal under the new authority")
	}

	old := w.leaf()
	w.stopInjector()
	w.renew(authority)
	w.renew(serving)
	w.waitFor("every process to hold the new certificate back", func() (bool, string) {
		for _, p := range append(w.Webhooks, w.Sidecars...) {
			if !strings.Contains(p.Log(), "Kept the old serving certificate") {
				return false, p.Name + " does not"
			}
		}
		return true, ""
	})
	step("a certificate outran its authority")
	shown, why := w.serves(old)
	require.True(t, shown, why)
	require.False(t, w.trusted())
	w.startInjector()
	leaf := w.leaf()
	w.waitFor("the authority to be trusted and the certificate to be served", func() (bool, string) { return w.serves(leaf) })
	step("the authority caught up")

	counts, err := load.Stop(w.ctx)
	require.NoError(t, err)
	t.Logf("7 renewals of the certificate, 4 of its authority: %s, none failed", counts)
	for _, p := range append(w.Webhooks, w.Sidecars...) {
		assert.False(t, p.Ended(), "%s runs on", p.Name)
	}
}

// bundles are the caBundles of Causeway's configurations, of each its first.
func (w *world) bundles() (all [][]byte, err error) {
	api := w.system.AdmissionregistrationV1()
	for _, name := range []string{environment.ServiceWebhook, environment.ServiceStatus} {
		o, err := api.ValidatingWebhookConfigurations().Get(w.ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		all = append(all, o.Webhooks[0].ClientConfig.CABundle)
	}
	o, err := api.MutatingWebhookConfigurations().Get(w.ctx, "causeway-overlay", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return append(all, o.Webhooks[0].ClientConfig.CABundle), nil
}
