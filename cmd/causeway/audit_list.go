package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/webhook"
)

var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

// auditPage bounds what one request brings: a large control plane answers many small ones more gladly than one of a
// hundred megabytes.
const auditPage = 500

// auditConfig finds the control plane as kubectl does, since an operator runs the audit where he runs that.
func auditConfig(o *auditOptions) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("no control plane to audit: %w: give --kubeconfig, or --context", err)
	}
	config.UserAgent = "causeway-audit"
	config.QPS = -1 // one request at a time is slow enough
	return config, nil
}

// auditMapper spares the client its discovery, for which an auditor may lack the rights.
func auditMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind, scope := range map[string]meta.RESTScope{
		"RuntimeClass":       meta.RESTScopeRoot,
		"Workload":           meta.RESTScopeNamespace,
		"WorkloadDeployment": meta.RESTScopeNamespace,
		"Instance":           meta.RESTScopeNamespace,
	} {
		mapper.Add(webhook.GroupVersion.WithKind(kind), scope)
	}
	mapper.Add(namespaceKind, meta.RESTScopeRoot)
	return mapper
}

// eachPage lists everything of a kind, a page at a time. Each page is a new copy of the empty list: decoded into a used one,
// a last page would keep the token of the one before.
func eachPage[L client.ObjectList](ctx context.Context, reader client.Reader, empty L, page func(L)) error {
	next := ""
	for {
		list := empty.DeepCopyObject().(L)
		err := reader.List(ctx, list, client.Limit(auditPage), client.Continue(next))
		if next != "" && apierrors.IsResourceExpired(err) {
			// The pages took longer than the server keeps a version. The token it gives goes on from here in the version
			// of now, which is as good: an audit is no snapshot.
			var status apierrors.APIStatus
			if errors.As(err, &status) && status.Status().Continue != "" {
				next = status.Status().Continue
				continue
			}
		}
		if err != nil {
			return err
		}
		page(list)
		if next = list.GetContinue(); next == "" {
			return nil
		}
	}
}
