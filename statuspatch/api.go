package statuspatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

const (
	resourceInstances   = "instances"
	resourceDeployments = "workloaddeployments"
	resourceWorkloads   = "workloads"
	resourcePods        = "pods"

	fieldManager = "causeway"

	// listPage bounds one answer of a live list.
	listPage = 500
)

// errParentGone tells that a parent does not exist, or is another one of the
// same name.
var errParentGone = errors.New("the parent does not exist")

// api is the API server as the status path sees it. The mapping of kinds to
// resources is static, so nothing is discovered on the path of a request; the
// client neither limits its rate nor retries, since both would hide behind a
// request's budget.
type api struct {
	rest rest.Interface
	core kubernetes.Interface
	// lease is for what keeps this process the active one.
	lease kubernetes.Interface
}

func newAPI(config *rest.Config) (*api, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.RateLimiter = -1, nil
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	lease, err := newLeaseClient(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for the lease: %w", err)
	}
	config.APIPath = "/apis"
	config.GroupVersion = &groupVersion
	config.NegotiatedSerializer = newSerializer()
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", groupVersion, err)
	}
	return &api{rest: client, core: core, lease: lease}, nil
}

// newLeaseClient makes a client with a connection of its own, which is given up
// soon after it has gone silent. Such a connection is noticed by pings that stay
// unanswered, so a server that is merely slow does not count; it takes 3 s on the
// other connection, and the lease would be lost in 2.
func newLeaseClient(config *rest.Config) (kubernetes.Interface, error) {
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		TLSClientConfig:   tls,
		ForceAttemptHTTP2: true,
		HTTP2:             &http.HTTP2Config{SendPingTimeout: leaseIdle, PingTimeout: leasePing},
	}
	if config.Proxy != nil {
		transport.Proxy = config.Proxy
	}
	transport.DialContext = (&net.Dialer{Timeout: leaseIdle + leasePing}).DialContext
	if config.Dial != nil {
		transport.DialContext = config.Dial
	}
	wrapped, err := rest.HTTPWrappersForConfig(config, transport)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfigAndClient(config, &http.Client{Transport: oneTry{wrapped}})
}

// oneTry hides what went wrong with a connection from client-go, which else
// tries a read again after a second of its own, up to ten times: the election has
// its own idea of when to try again, and of how long it may take.
type oneTry struct{ http.RoundTripper }

// otherWords are for errors that client-go knows by their text.
var otherWords = strings.NewReplacer(
	"connection reset by peer", "connection reset by the peer",
	"use of closed network connection", "use of a closed network connection",
	"sent GOAWAY and closed", "sent GOAWAY, then closed",
)

// RoundTrip satisfies http.RoundTripper.
func (t oneTry) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, errors.New("no answer: " + otherWords.Replace(err.Error()))
	}
	return response, nil
}

// user is who the API server takes this process for.
func (a *api) user(ctx context.Context) (string, error) {
	review, err := a.core.AuthenticationV1().SelfSubjectReviews().Create(ctx,
		&authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("asking the API server who this process is: %w", err)
	}
	return review.Status.UserInfo.Username, nil
}

// served tells which of the API's resources the API server serves.
func (a *api) served(ctx context.Context) (map[string]bool, error) {
	var list metav1.APIResourceList
	body, err := a.rest.Get().AbsPath("/apis/" + groupVersion.String()).MaxRetries(0).Do(ctx).Raw()
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("asking which resources of %s are served: %w", groupVersion, err)
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("reading which resources of %s are served: %w", groupVersion, err)
	}
	served := make(map[string]bool, len(list.APIResources))
	for _, r := range list.APIResources {
		served[r.Name] = true
	}
	return served, nil
}

// instance reads an Instance live; nil where there is none.
func (a *api) instance(ctx context.Context, name types.NamespacedName) (*ledger.Instance, error) {
	var o instanceObject
	err := a.get(ctx, resourceInstances, name.Namespace, name.Name, &o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Instance %s: %w", name, err)
	}
	return readInstance(&o), nil
}

// instances reads the Instances of a namespace live, a page at a time, and
// calls yield with each until it answers false.
func (a *api) instances(ctx context.Context, namespace string, yield func(*ledger.Instance) bool) error {
	options := metav1.ListOptions{Limit: listPage}
	for {
		var page instanceList
		err := a.rest.Get().Namespace(namespace).Resource(resourceInstances).
			VersionedParams(&options, metav1.ParameterCodec).MaxRetries(0).Do(ctx).Into(&page)
		if err != nil {
			return fmt.Errorf("listing the Instances of namespace %q: %w", namespace, err)
		}
		for i := range page.Items {
			if !yield(readInstance(&page.Items[i])) {
				return nil
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return nil
		}
	}
}

// deployment reads a WorkloadDeployment live: errParentGone where there is none
// of this UID.
func (a *api) deployment(ctx context.Context, p ledger.Parent) (*ledger.Deployment, error) {
	var o deploymentObject
	if err := a.parent(ctx, p, resourceDeployments, &o); err != nil {
		return nil, err
	}
	return readDeployment(&o), nil
}

// workload reads a Workload live: errParentGone where there is none of this UID.
func (a *api) workload(ctx context.Context, p ledger.Parent) (*ledger.Workload, error) {
	var o workloadObject
	if err := a.parent(ctx, p, resourceWorkloads, &o); err != nil {
		return nil, err
	}
	return readWorkload(&o), nil
}

func (a *api) parent(ctx context.Context, p ledger.Parent, resource string, into interface {
	runtime.Object
	metav1.ObjectMetaAccessor
}) error {
	err := a.get(ctx, resource, p.Namespace, p.Name, into)
	switch {
	case apierrors.IsNotFound(err):
		return errParentGone
	case err != nil:
		return fmt.Errorf("reading %s %s/%s: %w", p.Kind, p.Namespace, p.Name, err)
	case into.GetObjectMeta().GetUID() != p.UID:
		return errParentGone
	}
	return nil
}

func (a *api) get(ctx context.Context, resource, namespace, name string, into runtime.Object) error {
	return a.rest.Get().Namespace(namespace).Resource(resource).Name(name).MaxRetries(0).Do(ctx).Into(into)
}

// patchDeployment patches the status of a WorkloadDeployment and answers the
// version stored.
func (a *api) patchDeployment(ctx context.Context, p ledger.Parent, patch []byte) (*ledger.Deployment, error) {
	var o deploymentObject
	if err := a.patch(ctx, resourceDeployments, p, patch, &o); err != nil {
		return nil, err
	}
	return readDeployment(&o), nil
}

// patchWorkload is patchDeployment for a Workload.
func (a *api) patchWorkload(ctx context.Context, p ledger.Parent, patch []byte) (*ledger.Workload, error) {
	var o workloadObject
	if err := a.patch(ctx, resourceWorkloads, p, patch, &o); err != nil {
		return nil, err
	}
	return readWorkload(&o), nil
}

func (a *api) patch(ctx context.Context, resource string, p ledger.Parent, patch []byte, into runtime.Object) error {
	err := a.rest.Patch(types.JSONPatchType).Namespace(p.Namespace).Resource(resource).Name(p.Name).
		SubResource("status").Param("fieldManager", fieldManager).Body(patch).MaxRetries(0).Do(ctx).Into(into)
	if err != nil {
		return fmt.Errorf("patching the status of %s %s/%s: %w", p.Kind, p.Namespace, p.Name, err)
	}
	return nil
}
