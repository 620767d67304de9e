package install

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// servedTimeout is for a CRD that the server refuses to establish; one that is
// right is served within a second.
const servedTimeout = 30 * time.Second

// waitServed waits until the kinds of all CRDs among objects are established and
// in discovery, where clients look for them: that comes a moment later.
func waitServed(ctx context.Context, cfg *rest.Config, c client.Client, objects []*unstructured.Unstructured) error {
	disco, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, servedTimeout)
	defer cancel()
	for _, obj := range objects {
		if obj.GetKind() != "CustomResourceDefinition" || stage(obj) != stageCRD {
			continue
		}
		if err := poll(ctx, func(ctx context.Context) error { return served(ctx, c, disco, obj) }); err != nil {
			return fmt.Errorf("wait for %s: %w", describe(obj), err)
		}
	}
	return nil
}

func served(ctx context.Context, c client.Client, disco discovery.ServerResourcesInterface, obj *unstructured.Unstructured) error {
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(obj.GroupVersionKind())
	if err := c.Get(ctx, client.ObjectKeyFromObject(obj), stored); err != nil {
		return err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, &crd); err != nil {
		return err
	}
	if why := notEstablished(&crd); why != "" {
		return fmt.Errorf("not established: %s", why)
	}
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		gv := crd.Spec.Group + "/" + version.Name
		resources, err := disco.ServerResourcesForGroupVersion(gv)
		if err != nil {
			return err
		}
		found := false
		for _, resource := range resources.APIResources {
			found = found || resource.Name == crd.Spec.Names.Plural
		}
		if !found {
			return fmt.Errorf("%s does not list %s yet", gv, crd.Spec.Names.Plural)
		}
		// One that was deleted and made again may be listed still, and not be served.
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.ListKind})
		if err := c.List(ctx, list, client.Limit(1)); err != nil {
			return err
		}
	}
	return nil
}

// notEstablished says why a CRD is not served, or nothing if it is.
func notEstablished(crd *apiextensionsv1.CustomResourceDefinition) string {
	why := "no condition yet"
	for _, c := range crd.Status.Conditions {
		switch {
		case c.Type == apiextensionsv1.NamesAccepted && c.Status == apiextensionsv1.ConditionFalse:
			return c.Message
		case c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue:
			why = ""
		case c.Type == apiextensionsv1.Established:
			why = c.Message
		}
	}
	return why
}
