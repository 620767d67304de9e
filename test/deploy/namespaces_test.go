package deploy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// What a cluster needs to get well, Causeway included, and who opted out, is never refused for want of an answer; nobody
// answers here.
func TestNamespacesInWhichNothingIsRefused(t *testing.T) {
	deployed(t, overlay("refusal-only"), nil)
	c := clientFor(t, cp.AdminConfig())
	newNamespace(t, c, "ignored", map[string]string{"causeway.dev/capabilities": "ignore"})
	newNamespace(t, c, "labelled-otherwise", map[string]string{"causeway.dev/capabilities": "enforce"})
	create := func(namespace string) error {
		return c.Create(t.Context(), computeapi.NewWorkload(namespace, "adds", computeapi.WithAdd("SYS_ADMIN")), client.DryRunAll)
	}
	for _, name := range []string{"default", "labelled-otherwise"} {
		var err error
		eventually(t, name+" is judged", func() bool { err = create(name); return err != nil })
		assert.ErrorContains(t, err, "workloads.capabilities.causeway.dev")
	}
	for _, name := range []string{"kube-system", ownNamespace, "ignored"} {
		require.NoError(t, create(name), name)
	}
}
