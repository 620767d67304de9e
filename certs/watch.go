package certs

import (
	"context"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// watch tells when the Secret or a configuration may have changed. Each is watched by name, since that is all that is
// granted. The second result waits for the watches, which end with ctx.
func (s *SelfManaged) watch(ctx context.Context) (<-chan struct{}, func()) {
	events := make(chan struct{}, 1)
	tell := func(any) {
		select {
		case events <- struct{}{}:
		default: // one is waiting already, and says the same
		}
	}
	var group sync.WaitGroup
	start := func(client cache.Getter, resource, namespace, name string, kind runtime.Object) {
		_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
			ListerWatcher: cache.NewListWatchFromClient(client, resource, namespace, fields.OneTermEqualSelector("metadata.name", name)),
			ObjectType:    kind,
			Handler: cache.ResourceEventHandlerFuncs{
				AddFunc: tell, UpdateFunc: func(_, o any) { tell(o) }, DeleteFunc: tell,
			},
		})
		group.Go(func() { controller.RunWithContext(ctx) })
	}
	secret, c := s.options.Secret, s.options.Configurations
	start(s.options.Secrets.RESTClient(), "secrets", secret.Namespace, secret.Name, &corev1.Secret{})
	if c.Validating != "" {
		start(c.Client.RESTClient(), "validatingwebhookconfigurations", "", c.Validating, &admissionregistrationv1.ValidatingWebhookConfiguration{})
	}
	if c.Mutating != "" {
		start(c.Client.RESTClient(), "mutatingwebhookconfigurations", "", c.Mutating, &admissionregistrationv1.MutatingWebhookConfiguration{})
	}
	return events, group.Wait
}
