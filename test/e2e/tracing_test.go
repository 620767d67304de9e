package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/otlp"
	"github.com/causeway-webhook/causeway/test/platform"
)

// One write of an Instance, one refusal and one write of a controller, each as
// the API server and Causeway tell of it in one trace.
func TestATraceLeadsFromTheAPIServerToTheParentsWrites(t *testing.T) {
	collector, err := otlp.Start()
	require.NoError(t, err)
	t.Cleanup(collector.Stop)
	config := filepath.Join(t.TempDir(), "tracing.yaml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `apiVersion: apiserver.config.k8s.io/v1
kind: TracingConfiguration
endpoint: %s
samplingRatePerMillion: 1000000
`, collector.Address()), 0o600))
	to := []string{"--otlp-endpoint=http://" + collector.Address()}
	s := start(t, environment.Options{
		ControlPlane: controlplane.Options{APIServerFlags: []string{"--tracing-config-file=" + config}},
		Webhook:      1, Statuspatch: 1, WebhookArgs: to, StatuspatchArgs: to,
		Platform: &platform.Options{},
	})
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 1, "us")), 1)
	s.provider(instance(deployment, 0), platform.CrashLoop)
	refused := computeapi.NewWorkload(namespace, "refused", computeapi.WithAdd("SYS_ADMIN"))
	require.Error(t, s.customer.Create(s.ctx, refused))

	for name, tc := range map[string]struct {
		key, value, outcome string
		want                string
	}{
		"an Instance's write": {"causeway.webhook", "instances", "applied", `
POST /validate-instances-status
  review
    commit Workload
      wait
      write
    commit WorkloadDeployment
      wait
      write
    update ledger`},
		"a controller's write": {"causeway.webhook", "workloads", "applied", `
POST /mutate-workloads-status
  review
    make patch
    roll up`},
		"a refusal": {"causeway.resource", "workloads", "refused", `
POST /validate-compute-datumapis-com-v1alpha-workload
  review
    live classes
      list runtimeclasses`},
	} {
		t.Run(name, func(t *testing.T) {
			s.waitFor("the trace", func() (bool, string) {
				seen := "no review"
				for _, review := range collector.Spans(tc.key, tc.value) {
					server, ok := collector.Above(review)
					if review.Attribute("causeway.outcome") != tc.outcome || !ok {
						continue
					}
					seen = collector.Tree(server)
					caller, ok := collector.Above(server)
					if seen == strings.TrimPrefix(tc.want, "\n") && ok && caller.Service == "apiserver" {
						return true, ""
					}
				}
				return false, seen
			})
		})
	}
	// What a container said, and what was refused, are in objects and nowhere else.
	for _, secret := range []string{"keeps exiting", "SYS_ADMIN"} {
		for _, line := range strings.Split(collector.Text(), "\n") {
			if strings.HasPrefix(line, "causeway-") {
				assert.NotContains(t, line, secret)
			}
		}
	}
}
