package deploy

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	computeGroup = "compute.datumapis.com"
	leaseGroup   = "coordination.k8s.io"
	sliceGroup   = "discovery.k8s.io"
	eventGroup   = "events.k8s.io"
)

// Causeway may do what it does, in each overlay, and none of what would make it dangerous.
func TestPermissions(t *testing.T) {
	type ask struct{ verb, group, resource, subresource, namespace, name string }
	refusal := []ask{
		{"list", computeGroup, "runtimeclasses", "", "", ""},
		{"watch", computeGroup, "runtimeclasses", "", "", ""},
		{"get", computeGroup, "workloads", "", "x", "w"},
		{"get", computeGroup, "workloaddeployments", "", "x", "d"},
	}
	status := []ask{
		{"list", computeGroup, "instances", "", "", ""},
		{"watch", computeGroup, "workloads", "", "", ""},
		{"get", computeGroup, "workloaddeployments", "", "x", "d"},
		{"patch", computeGroup, "workloaddeployments", "status", "x", "d"},
		{"patch", computeGroup, "workloads", "status", "x", "w"},
		{"create", eventGroup, "events", "", "x", ""},
		{"create", leaseGroup, "leases", "", ownNamespace, ""},
		{"update", leaseGroup, "leases", "", ownNamespace, "causeway-statuspatch"},
		{"patch", sliceGroup, "endpointslices", "", ownNamespace, "causeway-status"},
	}
	never := []ask{
		{"patch", computeGroup, "workloads", "", "x", "w"},
		{"update", computeGroup, "workloads", "status", "x", "w"},
		{"patch", computeGroup, "instances", "status", "x", "i"},
		{"delete", computeGroup, "instances", "", "x", "i"},
		{"update", leaseGroup, "leases", "", ownNamespace, "another"},
		{"update", leaseGroup, "leases", "", "kube-system", "causeway-statuspatch"},
		{"patch", sliceGroup, "endpointslices", "", ownNamespace, "another"},
		{"patch", sliceGroup, "endpointslices", "", "kube-system", "causeway-status"},
		{"delete", eventGroup, "events", "", "x", "e"},
		{"get", "", "secrets", "", ownNamespace, "causeway-tls"},
		{"get", "", "pods", "", "x", "p"},
		{"patch", "admissionregistration.k8s.io", "validatingwebhookconfigurations", "", "", "causeway-webhook"},
		{"get", "admissionregistration.k8s.io", "validatingwebhookconfigurations", "", "", "another"},
	}
	const configurations = "admissionregistration.k8s.io"
	selfManaged := []ask{
		{"create", "", "secrets", "", ownNamespace, ""},
		{"get", "", "secrets", "", ownNamespace, "causeway-self-managed"},
		{"watch", "", "secrets", "", ownNamespace, "causeway-self-managed"},
		{"patch", "", "secrets", "", ownNamespace, "causeway-self-managed"},
		{"patch", configurations, "validatingwebhookconfigurations", "", "", "causeway-webhook"},
		{"patch", configurations, "validatingwebhookconfigurations", "", "", "causeway-status"},
		{"watch", configurations, "mutatingwebhookconfigurations", "", "", "causeway-overlay"},
		{"patch", configurations, "mutatingwebhookconfigurations", "", "", "causeway-overlay"},
	}
	strangers := []ask{
		{"get", "", "secrets", "", ownNamespace, "causeway-tls"},
		{"get", "", "secrets", "", "kube-system", "causeway-self-managed"},
		{"list", "", "secrets", "", ownNamespace, ""},
		{"delete", "", "secrets", "", ownNamespace, "causeway-self-managed"},
		{"patch", configurations, "validatingwebhookconfigurations", "", "", "another"},
		{"patch", configurations, "mutatingwebhookconfigurations", "", "", "another"},
		{"create", configurations, "validatingwebhookconfigurations", "", "", ""},
	}
	for name, tc := range map[string]struct{ may, mayNot []ask }{
		"self-managed": {append(append(append([]ask{}, refusal...), status...), selfManaged...), strangers},
		"default":      {append(append([]ask{}, refusal...), status...), never},
		"refusal-only": {refusal, append(append([]ask{}, never...), status[3:]...)},
		"status-only":  {status, append(append([]ask{}, never...), refusal[0])},
	} {
		t.Run(name, func(t *testing.T) {
			deployed(t, overlay(name), nil)
			config, err := cp.ServiceAccountConfig(t.Context(), ownNamespace, ownAccount)
			require.NoError(t, err)
			client, err := kubernetes.NewForConfig(config)
			require.NoError(t, err)
			allowed := func(a ask) bool {
				review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
					Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
						Verb: a.verb, Group: a.group, Resource: a.resource, Subresource: a.subresource, Namespace: a.namespace, Name: a.name}},
				}, metav1.CreateOptions{})
				require.NoError(t, err)
				return review.Status.Allowed
			}
			for _, a := range tc.may {
				// The authorizer's cache hears of a new binding a moment later.
				eventually(t, sprintf("may %+v", a), func() bool { return allowed(a) })
			}
			for _, a := range tc.mayNot {
				// And of the end of the one before.
				eventually(t, sprintf("may not %+v", a), func() bool { return !allowed(a) })
			}
		})
	}
}

// Which level a request waits in is told by the server in a header. What a review needs must not wait with the requests
// that wait for the review, and the lease with neither.
func TestFlowSchemas(t *testing.T) {
	deployed(t, overlay("default"), nil)
	client, err := kubernetes.NewForConfig(cp.AdminConfig())
	require.NoError(t, err)
	config, err := cp.ServiceAccountConfig(t.Context(), ownNamespace, ownAccount)
	require.NoError(t, err)
	transport, err := rest.HTTPClientFor(config)
	require.NoError(t, err)

	const api = "/apis/compute.datumapis.com/v1alpha"
	for name, tc := range map[string]struct{ method, path, want string }{
		"a parent's status":          {http.MethodPatch, api + "/namespaces/default/workloads/none/status", "causeway-reviews"},
		"the other parent's":         {http.MethodPatch, api + "/namespaces/default/workloaddeployments/none/status", "causeway-reviews"},
		"a parent after a conflict":  {http.MethodGet, api + "/namespaces/default/workloads/none", "causeway-reviews"},
		"an Instance of its own":     {http.MethodPatch, api + "/namespaces/default/instances/none/status", "causeway-instances"},
		"an Instance not settled":    {http.MethodGet, api + "/namespaces/default/instances/none", "causeway-reviews"},
		"classes before a refusal":   {http.MethodGet, api + "/runtimeclasses", "causeway-reviews"},
		"discovery":                  {http.MethodGet, api, "causeway-reviews"},
		"the server's version":       {http.MethodGet, "/version", "causeway-reviews"},
		"the lease":                  {http.MethodGet, "/apis/coordination.k8s.io/v1/namespaces/causeway-system/leases/causeway-statuspatch", "causeway-tenure"},
		"the slice":                  {http.MethodGet, "/apis/discovery.k8s.io/v1/namespaces/causeway-system/endpointslices/causeway-status", "causeway-tenure"},
		"a long list is nobody's":    {http.MethodGet, api + "/instances", "service-accounts"},
		"somebody else's lease, too": {http.MethodGet, "/apis/coordination.k8s.io/v1/namespaces/default/leases/x", "service-accounts"},
	} {
		t.Run(name, func(t *testing.T) {
			schema, err := client.FlowcontrolV1().FlowSchemas().Get(t.Context(), tc.want, metav1.GetOptions{})
			require.NoError(t, err)
			eventually(t, "it is in "+tc.want, func() bool {
				request, err := http.NewRequestWithContext(t.Context(), tc.method, config.Host+tc.path, nil)
				require.NoError(t, err)
				response, err := transport.Do(request)
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
				return response.Header.Get("X-Kubernetes-PF-FlowSchema-UID") == string(schema.UID)
			})
		})
	}
}
