package main

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/causeway-webhook/causeway/cmd/kubectl-why/tree"
)

// source reads from the API server.
type source struct {
	client    dynamic.Interface
	host      string
	namespace string // all if empty
	names     []string
	selector  string
	progress  *progress
}

func newSource(o *options) (*source, error) {
	config, err := o.config.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	// Three lists: nothing that a limit in the client would protect.
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("using the kubeconfig: %w", err)
	}
	return &source{
		client: client, host: config.Host, namespace: o.namespace, names: o.names, selector: o.selector,
		progress: &progress{out: o.streams.ErrOut, on: o.err.is()},
	}, nil
}

// explain reads all that is asked for and explains it.
func (s *source) explain(ctx context.Context) ([]tree.Explanation, error) {
	snapshot, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	return tree.Build(snapshot), nil
}

// read reads Workloads and what is below them. What the user may not read below
// them is noted, not an error.
func (s *source) read(ctx context.Context) (snapshot tree.Snapshot, err error) {
	defer s.progress.done()
	if snapshot.Workloads, err = s.workloads(ctx); err != nil || len(snapshot.Workloads) == 0 {
		return snapshot, err
	}
	if snapshot.Deployments, err = list(ctx, s, deployments, readDeployment); err != nil {
		if snapshot.NoDeployments = refusal(err); snapshot.NoDeployments == "" {
			return snapshot, err
		}
	}
	if snapshot.Instances, err = list(ctx, s, instances, readInstance); err != nil {
		if snapshot.NoInstances = refusal(err); snapshot.NoInstances == "" {
			return snapshot, err
		}
	}
	return snapshot, nil
}

// refusal is why a list was not allowed, empty for any other error.
func refusal(err error) string {
	var status apierrors.APIStatus
	if !apierrors.IsForbidden(err) || !errors.As(err, &status) {
		return ""
	}
	return status.Status().Message
}

// workloads reads those that are named, or all.
func (s *source) workloads(ctx context.Context) ([]tree.Workload, error) {
	if len(s.names) == 0 {
		return list(ctx, s, workloads, readWorkload)
	}
	var found []tree.Workload
	for _, name := range s.names {
		o, err := s.client.Resource(workloads).Namespace(s.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, s.explainError(workloads, err)
		}
		w, err := decode[workloadObject](o)
		if err != nil {
			return nil, fmt.Errorf("reading workload %s/%s: %w", s.namespace, name, err)
		}
		found = append(found, readWorkload(w))
	}
	return found, nil
}

// pageSize bounds one answer of a list, as in kubectl.
const pageSize = 500

// list reads all objects of a resource, a page at a time.
func list[O, T any](ctx context.Context, s *source, of schema.GroupVersionResource, read func(*O) T) ([]T, error) {
	var found []T
	options := metav1.ListOptions{Limit: pageSize}
	if of == workloads {
		options.LabelSelector = s.selector
	}
	for {
		page, err := s.client.Resource(of).Namespace(s.namespace).List(ctx, options)
		if apierrors.IsResourceExpired(err) && options.Continue != "" {
			// The server has forgotten the version that was being read: all at once, then.
			found, options.Continue, options.Limit = nil, "", 0
			continue
		}
		if err != nil {
			return nil, s.explainError(of, err)
		}
		for i := range page.Items {
			object, err := decode[O](&page.Items[i])
			if err != nil {
				return nil, fmt.Errorf("reading %s %s/%s: %w", of.Resource, page.Items[i].GetNamespace(), page.Items[i].GetName(), err)
			}
			found = append(found, read(object))
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return found, nil
		}
		s.progress.read(of.Resource, len(found), page.GetRemainingItemCount())
	}
}

// explainError adds to an error what it leaves open.
func (s *source) explainError(of schema.GroupVersionResource, err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return fmt.Errorf("reading %s: %w", of.Resource, err)
	}
	if details := status.Status().Details; apierrors.IsNotFound(err) && (details == nil || details.Name == "") {
		return fmt.Errorf("the control plane at %s does not serve %s.%s; is it the one you mean (--context)?", s.host, of.Resource, of.Group)
	}
	return err // the API server's own words, which name the resource
}
