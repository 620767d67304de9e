package deploy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/install"
)

// lines is a manifest as text: each field with its path, sorted.
func lines(t *testing.T, objects []*unstructured.Unstructured) (all []string) {
	t.Helper()
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for key, field := range value {
				walk(path+"."+key, field)
			}
		case []any:
			for _, element := range value {
				at := "[]"
				if fields, ok := element.(map[string]any); ok && fields["name"] != nil {
					at = "[" + fields["name"].(string) + "]"
				}
				walk(path+at, element)
			}
		default:
			text, err := json.Marshal(value)
			require.NoError(t, err)
			all = append(all, path+" "+string(text))
		}
	}
	for _, o := range objects {
		walk(o.GetKind()+" "+o.GetName(), o.Object)
	}
	slices.Sort(all)
	return all
}

// less is what of one sorted list is not in another, each as often as it is.
func less(all, other []string) (rest []string) {
	other = slices.Clone(other)
	for _, line := range all {
		if i, found := slices.BinarySearch(other, line); found {
			other = slices.Delete(other, i, i+1)
		} else {
			rest = append(rest, line)
		}
	}
	return rest
}

// ofTheSlice is what no control plane without EndpointSlices needs: where to write one's address, and the leave to.
var ofTheSlice = []string{
	`Deployment causeway.spec.template.spec.containers[statuspatch].args[] "--endpoint-slice=$(POD_NAMESPACE)/$(ENDPOINT_SLICE)"`,
	`Deployment causeway.spec.template.spec.containers[statuspatch].env[ENDPOINT_SLICE].name "ENDPOINT_SLICE"`,
	`Deployment causeway.spec.template.spec.containers[statuspatch].env[ENDPOINT_SLICE].value "causeway-status"`,
	`Deployment causeway.spec.template.spec.containers[statuspatch].env[POD_IP].name "POD_IP"`,
	`Deployment causeway.spec.template.spec.containers[statuspatch].env[POD_IP].valueFrom.fieldRef.fieldPath "status.podIP"`,
	`FlowSchema causeway-tenure.spec.rules[].resourceRules[].apiGroups[] "discovery.k8s.io"`,
	`FlowSchema causeway-tenure.spec.rules[].resourceRules[].namespaces[] "causeway-system"`,
	`FlowSchema causeway-tenure.spec.rules[].resourceRules[].resources[] "endpointslices"`,
	`FlowSchema causeway-tenure.spec.rules[].resourceRules[].verbs[] "get"`,
	`FlowSchema causeway-tenure.spec.rules[].resourceRules[].verbs[] "patch"`,
	`Role causeway-status.rules[].apiGroups[] "discovery.k8s.io"`,
	`Role causeway-status.rules[].resourceNames[] "causeway-status"`,
	`Role causeway-status.rules[].resources[] "endpointslices"`,
	`Role causeway-status.rules[].verbs[] "get"`,
	`Role causeway-status.rules[].verbs[] "patch"`,
}

// Every webhook calls a URL, at the path it had; what is of Services alone is gone; nothing else differs.
func TestURLsInPlaceOfServices(t *testing.T) {
	const refusal, status = "https://a.example:9443", "https://b.example/causeway"
	both := []string{"webhook=" + refusal, "status=" + status}
	for name, tc := range map[string]struct {
		overlay    string
		components []string // beside the one for URLs, which is the last
		url        string
		literals   []string
		gone       []string
	}{
		"both halves":         {"default", nil, "url", both, ofTheSlice},
		"self-managed":        {"self-managed", nil, "url", both, ofTheSlice},
		"with Pods observed":  {"default", []string{"observe-pods"}, "url", both, ofTheSlice},
		"the refusal alone":   {"refusal-only", nil, "url/refusal", both[:1], nil},
		"the status alone":    {"status-only", nil, "url/status", both[1:], ofTheSlice},
		"the status of Pods":  {"status-only", []string{"observe-pods"}, "url/status", both[1:], ofTheSlice},
		"beside other things": {"default", []string{"hold-reason", "high-availability", "secure-metrics"}, "url", both, ofTheSlice},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := install.Render(withComponents(t, tc.overlay, tc.components, nil))
			require.NoError(t, err)
			after, err := install.Render(withComponents(t, tc.overlay, append(slices.Clone(tc.components), tc.url), tc.literals))
			require.NoError(t, err)

			before = slices.DeleteFunc(before, func(o *unstructured.Unstructured) bool {
				return o.GetKind() == "Service" || o.GetKind() == "EndpointSlice"
			})
			before, err = install.Rewrite(before, install.Options{WebhookURL: func(service string) string {
				return map[string]string{"causeway-webhook": refusal, "causeway-status": status}[service]
			}})
			require.NoError(t, err)
			was, is := lines(t, before), lines(t, after)
			assert.Equal(t, tc.gone, less(was, is), "gone")
			assert.Empty(t, less(is, was), "new")
		})
	}
}

// As on a control plane without Services: nothing is rewritten, and whoever is behind the URLs issues the certificate
// that the configurations then trust.
func TestURLsAreCalled(t *testing.T) {
	r := newRunning(t, controlplane.Options{})
	r.install(t, withComponents(t, "self-managed", []string{"url"}, []string{
		"webhook=" + r.fronts["causeway-webhook"].URL(), "status=" + r.fronts["causeway-status"].URL()}), install.Options{})
	for _, o := range r.objects {
		assert.NotContains(t, []string{"Service", "EndpointSlice"}, o.GetKind())
	}
	c := clientFor(t, r.AdminConfig())
	require.NoError(t, c.Create(t.Context(), computeapi.NewRuntimeClass("general-purpose", []string{"NET_BIND_SERVICE"}, computeapi.AsDefault)))
	r.start(t, "webhook")
	first := r.start(t, "statuspatch")
	r.start(t, "statuspatch")

	refuses(t, c)
	f := newFamily(t, c, "default", "crashing")
	require.NoError(t, f.crash(t.Context(), "Told in the same request."))
	deployment, workload := f.says(t)
	assert.Equal(t, crashed+"Told in the same request.", deployment)
	assert.Equal(t, crashed+"Told in the same request.", workload)
	assert.Equal(t, deployment, f.overwrite(t), "the overlay is called too")

	// The balancer follows /activez to whoever takes over.
	first.Kill()
	turn := 0
	waitUntil(t, "a write to be told of by the other", func() (bool, string) {
		turn++
		detail := "Turn " + strings.Repeat("i", turn) + "."
		require.NoError(t, f.crash(t.Context(), detail))
		deployment, workload := f.says(t)
		return deployment == crashed+detail && workload == deployment, workload
	})
}
