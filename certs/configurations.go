package certs

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typed "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
)

// fieldManager owns what is patched here.
const fieldManager = "causeway"

// Configurations are the webhook configurations that name this process, and no others. An empty name means none.
type Configurations struct {
	Client     typed.AdmissionregistrationV1Interface
	Validating string
	Mutating   string
}

// configuration is one as it was read.
type configuration struct {
	resource, name, version string
	callers                 []Caller // one for each webhook, by index
}

// Callers reads who calls this process. A configuration that does not exist has none. The error of a missing permission
// satisfies apierrors.IsForbidden.
func (c Configurations) Callers(ctx context.Context) ([]Caller, error) {
	all, err := c.read(ctx)
	return callersOf(all), err
}

func callersOf(all []configuration) []Caller {
	var callers []Caller
	for _, one := range all {
		callers = append(callers, one.callers...)
	}
	return callers
}

func (c Configurations) read(ctx context.Context) ([]configuration, error) {
	var all []configuration
	var errs []error
	if c.Validating != "" {
		o, err := c.Client.ValidatingWebhookConfigurations().Get(ctx, c.Validating, metav1.GetOptions{})
		if err == nil {
			one := configuration{resource: "validatingwebhookconfigurations", name: o.Name, version: o.ResourceVersion}
			for _, w := range o.Webhooks {
				one.callers = append(one.callers, callerOf(w.ClientConfig))
			}
			all = append(all, one)
		}
		errs = append(errs, err)
	}
	if c.Mutating != "" {
		o, err := c.Client.MutatingWebhookConfigurations().Get(ctx, c.Mutating, metav1.GetOptions{})
		if err == nil {
			one := configuration{resource: "mutatingwebhookconfigurations", name: o.Name, version: o.ResourceVersion}
			for _, w := range o.Webhooks {
				one.callers = append(one.callers, callerOf(w.ClientConfig))
			}
			all = append(all, one)
		}
		errs = append(errs, err)
	}
	for _, err := range errs {
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("reading the webhook configurations: %w", err)
		}
	}
	return all, nil
}

// trust has every webhook of a configuration trust the authorities. It patches by index, and only if the configuration
// is still the one that was read: the webhooks are a list, and a patch of another one would land on the wrong webhook.
// It returns the configuration as it is then, and whether that took a write.
func (c Configurations) trust(ctx context.Context, one configuration, authorities []*x509.Certificate, now time.Time) (configuration, bool, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value"`
	}
	patch := []operation{{"replace", "/metadata/resourceVersion", one.version}}
	after := one
	after.callers = append([]Caller{}, one.callers...)
	for i, caller := range one.callers {
		bundle, changed, err := mergeBundle(caller.Bundle, authorities, now)
		if err != nil {
			return one, false, err
		}
		if !changed {
			continue
		}
		after.callers[i].Bundle = bundle
		patch = append(patch, operation{"add", fmt.Sprintf("/webhooks/%d/clientConfig/caBundle", i), base64.StdEncoding.EncodeToString(bundle)})
	}
	if len(patch) == 1 {
		return one, false, nil
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return one, false, err
	}
	after.version, err = c.patch(ctx, one, data)
	if err != nil {
		return one, false, fmt.Errorf("writing caBundle of %s %s: %w", one.resource, one.name, err)
	}
	return after, true, nil
}

// patch returns the version it made.
func (c Configurations) patch(ctx context.Context, one configuration, data []byte) (string, error) {
	options := metav1.PatchOptions{FieldManager: fieldManager}
	var o metav1.Object
	var err error
	switch one.resource {
	case "validatingwebhookconfigurations":
		var v *admissionregistrationv1.ValidatingWebhookConfiguration
		v, err = c.Client.ValidatingWebhookConfigurations().Patch(ctx, one.name, types.JSONPatchType, data, options)
		o = v
	case "mutatingwebhookconfigurations":
		var m *admissionregistrationv1.MutatingWebhookConfiguration
		m, err = c.Client.MutatingWebhookConfigurations().Patch(ctx, one.name, types.JSONPatchType, data, options)
		o = m
	default:
		return "", errors.New("no such resource")
	}
	if err != nil {
		return "", err
	}
	return o.GetResourceVersion(), nil
}
