package statuspatch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// endpoints keeps the one EndpointSlice of the selector-less Service of the
// status webhooks, so that the API server dials the active process and no
// other. The slice is made at install time; this only fills it.
type endpoints struct {
	core    kubernetes.Interface
	slice   types.NamespacedName
	address string
}

// enter makes this process the slice's only endpoint.
func (e *endpoints) enter(ctx context.Context) error {
	ready := true
	return e.set(ctx, func([]string) []discoveryv1.Endpoint {
		return []discoveryv1.Endpoint{{
			Addresses:  []string{e.address},
			Conditions: discoveryv1.EndpointConditions{Ready: &ready},
		}}
	})
}

// leave empties the slice, unless another process has entered it since.
func (e *endpoints) leave(ctx context.Context) error {
	return e.set(ctx, func(current []string) []discoveryv1.Endpoint {
		if !slices.Contains(current, e.address) {
			return nil
		}
		return []discoveryv1.Endpoint{}
	})
}

// set replaces the slice's endpoints by what want answers; nil leaves them. The
// list is Causeway's own, so that it is replaced whole.
func (e *endpoints) set(ctx context.Context, want func(current []string) []discoveryv1.Endpoint) error {
	if e.slice.Name == "" {
		return nil
	}
	client := e.core.DiscoveryV1().EndpointSlices(e.slice.Namespace)
	slice, err := client.Get(ctx, e.slice.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading EndpointSlice %s: %w", e.slice, err)
	}
	var current []string
	for _, endpoint := range slice.Endpoints {
		current = append(current, endpoint.Addresses...)
	}
	endpoints := want(current)
	if endpoints == nil || len(endpoints) == 1 && slices.Equal(current, []string{e.address}) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata":  map[string]any{"resourceVersion": slice.ResourceVersion},
		"endpoints": endpoints,
	})
	if err != nil {
		return fmt.Errorf("writing a patch of EndpointSlice %s: %w", e.slice, err)
	}
	_, err = client.Patch(ctx, e.slice.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return fmt.Errorf("patching EndpointSlice %s: %w", e.slice, err)
	}
	return nil
}
