package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// computeAPI is the group and version Causeway watches over.
const computeAPI = "compute.datumapis.com/v1alpha"

// firstWordsTimeout bounds the first exchange with the API server; an error must be on the screen within 15 s.
const firstWordsTimeout = 10 * time.Second

// loadConfig finds the API server: in the kubeconfig, or without one from the Pod's service account.
func loadConfig(kubeconfig, userAgent string) (*rest.Config, error) {
	config, err := readConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent = userAgent
	// The API server's own flow control (deploy/base/flow-control.yaml) decides who waits; a limit in the client would
	// hold up a customer's write that nobody is short of.
	config.QPS = -1
	return config, nil
}

func readConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, errors.New("no control plane to watch over: this is no Pod, so give --kubeconfig")
		}
		if err != nil {
			return nil, fmt.Errorf("reading the Pod's service account: %w: mount its token, or give --kubeconfig", err)
		}
		return config, nil
	}
	file, err := clientcmd.LoadFromFile(kubeconfig)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--kubeconfig %s does not exist: give the path of a kubeconfig", kubeconfig)
	case err != nil:
		return nil, fmt.Errorf("--kubeconfig %s cannot be read: %w: give the path of a kubeconfig", kubeconfig, err)
	}
	config, err := clientcmd.NewDefaultClientConfig(*file, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig %s cannot be used: %w: its current-context must name a cluster and a user", kubeconfig, err)
	}
	return config, nil
}

// servedResources asks the API server which resources of the compute API it has. It is the first request of the process,
// so its errors are those of a wrong address or wrong credentials, and say what to do about them. A control plane
// without the API has none, which is no error here.
func servedResources(ctx context.Context, config *rest.Config) (map[string]bool, error) {
	config = rest.CopyConfig(config)
	config.Timeout = firstWordsTimeout
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig cannot be used: %w: check its certificates and addresses", err)
	}
	list, err := resources(ctx, client)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case apierrors.IsUnauthorized(err):
		return nil, fmt.Errorf("the API server at %s does not know who this is: %w: renew the token or certificate in --kubeconfig", config.Host, err)
	case apierrors.IsForbidden(err):
		return nil, fmt.Errorf("the API server at %s refuses discovery: %w: bind this user to the cluster role system:discovery", config.Host, err)
	case err != nil:
		return nil, fmt.Errorf("cannot reach the API server at %s: %w: check that it runs and that the address in --kubeconfig is right", config.Host, err)
	}
	served := map[string]bool{}
	for _, r := range list.APIResources {
		served[r.Name] = true
	}
	return served, nil
}

// resources is one discovery call that ends with ctx, as the client's own method does not.
func resources(ctx context.Context, client *discovery.DiscoveryClient) (*metav1.APIResourceList, error) {
	list := &metav1.APIResourceList{}
	err := client.RESTClient().Get().AbsPath("/apis/" + computeAPI).Do(ctx).Into(list)
	return list, err
}
