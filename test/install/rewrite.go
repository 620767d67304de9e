package install

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Rewrite returns copies of objects in which every webhook that names a Service
// calls opts.WebhookURL of that Service instead, at the same path, and trusts
// opts.CABundle. Without a WebhookURL nothing is changed. All else is as it was.
func Rewrite(objects []*unstructured.Unstructured, opts Options) ([]*unstructured.Unstructured, error) {
	out := make([]*unstructured.Unstructured, 0, len(objects))
	for _, obj := range objects {
		obj = obj.DeepCopy()
		if opts.WebhookURL != nil && isWebhookConfiguration(obj) {
			if err := rewriteWebhooks(obj, opts); err != nil {
				return nil, fmt.Errorf("rewrite %s: %w", describe(obj), err)
			}
		}
		out = append(out, obj)
	}
	return out, nil
}

func isWebhookConfiguration(obj *unstructured.Unstructured) bool {
	gvk := obj.GroupVersionKind()
	return gvk.Group == "admissionregistration.k8s.io" &&
		slices.Contains([]string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}, gvk.Kind)
}

func rewriteWebhooks(obj *unstructured.Unstructured, opts Options) error {
	webhooks, _, err := unstructured.NestedSlice(obj.Object, "webhooks")
	if err != nil {
		return err
	}
	for i := range webhooks {
		webhook, ok := webhooks[i].(map[string]any)
		if !ok {
			return fmt.Errorf("webhooks[%d] is no object", i)
		}
		_, found, err := unstructured.NestedMap(webhook, "clientConfig", "service")
		if err != nil {
			return fmt.Errorf("webhooks[%d]: %w", i, err)
		}
		if !found {
			continue
		}
		name, _, err := unstructured.NestedString(webhook, "clientConfig", "service", "name")
		if err != nil {
			return fmt.Errorf("webhooks[%d]: %w", i, err)
		}
		path, _, err := unstructured.NestedString(webhook, "clientConfig", "service", "path")
		if err != nil {
			return fmt.Errorf("webhooks[%d]: %w", i, err)
		}
		base := opts.WebhookURL(name)
		if base == "" {
			return fmt.Errorf("webhooks[%d]: nothing serves as service %q", i, name)
		}
		clientConfig := webhook["clientConfig"].(map[string]any)
		delete(clientConfig, "service")
		clientConfig["url"] = strings.TrimSuffix(base, "/") + "/" + strings.TrimPrefix(path, "/")
		if len(opts.CABundle) > 0 {
			clientConfig["caBundle"] = base64.StdEncoding.EncodeToString(opts.CABundle)
		}
	}
	return unstructured.SetNestedSlice(obj.Object, webhooks, "webhooks")
}
