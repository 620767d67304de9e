package deploy

import (
	"context"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/install"
)

// In the order of the README: at no step is anybody refused anything, what was kept is let go, and nothing is left.
func TestUninstallInTheOrderOfTheREADMELeavesNothing(t *testing.T) {
	r := started(t, "testdata/held", controlplane.Options{})
	c := clientFor(t, r.AdminConfig())
	require.NoError(t, c.Create(t.Context(), computeapi.NewRuntimeClass("web", nil, computeapi.AsDefault)))
	r.start(t, "webhook")
	r.start(t, "statuspatch")
	f := newFamily(t, c, "default", "survivor")
	waitUntil(t, "a reason", func() (bool, string) {
		require.NoError(t, f.crash(t.Context(), "It crashes."))
		deployment, workload := f.says(t)
		return deployment == crashed+"It crashes." && workload == deployment, deployment
	})

	isConfiguration := func(o *unstructured.Unstructured) bool {
		return strings.HasSuffix(o.GetKind(), "WebhookConfiguration")
	}
	isPolicy := func(o *unstructured.Unstructured) bool {
		return strings.HasPrefix(o.GetKind(), "MutatingAdmissionPolicy")
	}
	for _, step := range []struct {
		what string
		is   func(*unstructured.Unstructured) bool
	}{
		{"hold-reason", isPolicy},
		{"the webhook configurations", isConfiguration},
		{"everything else", func(o *unstructured.Unstructured) bool { return !isPolicy(o) && !isConfiguration(o) }},
	} {
		if step.what == "everything else" {
			for _, processes := range r.processes { // with the Deployment go its Pods
				for _, p := range processes {
					require.NoError(t, p.Stop())
				}
			}
		}
		var objects []*unstructured.Unstructured
		for _, o := range r.objects {
			if step.is(o) {
				objects = append(objects, o)
			}
		}
		require.NotEmpty(t, objects, step.what)
		require.NoError(t, install.Uninstall(t.Context(), r.AdminConfig(), objects), step.what)
		require.NoError(t, f.crash(t.Context(), "After "+step.what+"."), step.what)
		require.NoError(t, c.Create(t.Context(), computeapi.NewWorkload("default", "another"), client.DryRunAll), step.what)
	}

	waitUntil(t, "the platform's own words to stay", func() (bool, string) { s := f.overwrite(t); return s == waiting, s })
	require.NoError(t, c.Create(t.Context(), computeapi.NewWorkload("default", "adds", computeapi.WithAdd("SYS_ADMIN"))))
	assert.Empty(t, leftovers(t, r))
}

// In any other order, and with nobody answering, at worst specs that add capabilities are refused.
func TestUninstallInAnyOrderRefusesOnlyWhatAdds(t *testing.T) {
	r := started(t, overlay("default"), controlplane.Options{})
	c := clientFor(t, r.AdminConfig())
	f := newFamily(t, c, "default", "plain")
	var adds *family
	random := rand.New(rand.NewSource(1)) // an order that failed fails again
	for round := range 4 {
		if round > 0 {
			require.NoError(t, install.Install(t.Context(), r.AdminConfig(), r.objects, r.options))
		}
		order := slices.DeleteFunc(slices.Clone(r.objects), func(o *unstructured.Unstructured) bool {
			return o.GetKind() == "Namespace" // nobody here empties one, and it would take nothing new for the next round
		})
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, o := range order {
			require.NoError(t, c.Delete(t.Context(), o.DeepCopy()), "%s %s", o.GetKind(), o.GetName())
			after := "round " + string(rune('1'+round)) + ", without " + o.GetKind() + " " + o.GetName()
			require.NoError(t, f.crash(t.Context(), after))
			require.NoError(t, f.recovers(t.Context()), after)
			assert.Equal(t, waiting, f.overwrite(t), after)
			require.NoError(t, c.Create(t.Context(), computeapi.NewWorkload("default", "more"), client.DryRunAll), after)
			if adds == nil {
				continue
			}
			label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"after":"`+strings.ToLower(o.GetKind())+`"}}}`))
			require.NoError(t, c.Patch(t.Context(), adds.workload.DeepCopy(), label), after)
			require.NoError(t, c.Create(t.Context(), instanceOf(adds.deployment), client.DryRunAll), after)
		}
		if adds == nil {
			waitUntil(t, "nothing to be refused", func() (bool, string) {
				err := c.Create(t.Context(), computeapi.NewWorkload("default", "adds", computeapi.WithAdd("SYS_ADMIN")), client.DryRunAll)
				return err == nil, "it is"
			})
			adds = newFamily(t, c, "default", "adds", computeapi.WithAdd("SYS_ADMIN"))
			require.NoError(t, c.Delete(t.Context(), adds.instance))
		}
	}
	assert.Empty(t, leftovers(t, r))
}

// leftovers are all objects in the API server that bear Causeway's name, whatever their kind, but for the namespace, which
// is being emptied by a controller that is not here, and for Events, which the API server itself writes about Services and
// forgets by itself.
func leftovers(t *testing.T, r *running) (names []string) {
	t.Helper()
	config := r.AdminConfig()
	config.WarningHandler = rest.NoWarnings{} // of kinds that are deprecated
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	lists, err := disco.ServerPreferredResources()
	require.NoError(t, err)
	c, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		require.NoError(t, err)
		for _, resource := range list.APIResources {
			if !slices.Contains(resource.Verbs, "list") || resource.Name == "namespaces" || resource.Name == "events" {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			objects, err := c.Resource(gv.WithResource(resource.Name)).List(ctx, metav1.ListOptions{})
			cancel()
			require.NoError(t, err, resource.Name)
			for _, o := range objects.Items {
				if strings.Contains(o.GetName(), "causeway") || o.GetNamespace() == r.deployment.Namespace {
					names = append(names, o.GetKind()+" "+o.GetName())
				}
			}
		}
	}
	return names
}
