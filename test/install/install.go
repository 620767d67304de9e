package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FieldManager owns what Install applies.
const FieldManager = "installer"

// Options say how webhooks are reached. The zero value changes nothing.
type Options struct {
	// WebhookURL returns the base URL, https://127.0.0.1:port, of whoever serves in
	// place of the Service of that name. An empty answer is an error: a webhook that
	// nobody serves should be left out on purpose, not by accident. If nil, webhooks
	// keep naming their Service.
	WebhookURL func(service string) string

	// CABundle is the authority, PEM, that signed the certificate served there. If
	// empty, what the manifest says stays.
	CABundle []byte
}

// Install applies objects, whatever their order: namespaces and CRDs first,
// whose kinds are served before anything else is applied, and last what acts on
// the requests of others, so that it never acts on these. When it returns, what
// it granted is allowed.
func Install(ctx context.Context, cfg *rest.Config, objects []*unstructured.Unstructured, opts Options) error {
	objects, err := Rewrite(objects, opts)
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return stage(a) - stage(b) })
	for i, obj := range objects {
		if i > 0 && stage(objects[i-1]) == stageCRD && stage(obj) > stageCRD {
			if err := waitServed(ctx, cfg, c, objects[:i]); err != nil {
				return fmt.Errorf("install: %w", err)
			}
		}
		err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(obj), client.FieldOwner(FieldManager), client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("install %s: %w", describe(obj), err)
		}
	}
	if err := errors.Join(waitServed(ctx, cfg, c, objects), waitGranted(ctx, c, objects)); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	return nil
}

// Uninstall deletes objects in the reverse of the order of Install and waits
// until their CRDs are gone, which would otherwise meet the next Install. What
// is not there is no error. A namespace stays, being deleted: emptying it is
// the work of a controller that does not run here.
func Uninstall(ctx context.Context, cfg *rest.Config, objects []*unstructured.Unstructured) error {
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		return fmt.Errorf("uninstall: %w", err)
	}
	objects = slices.Clone(objects)
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return stage(a) - stage(b) })
	slices.Reverse(objects)
	for _, obj := range objects {
		if err := c.Delete(ctx, obj.DeepCopy()); err != nil && !gone(err) {
			return fmt.Errorf("uninstall %s: %w", describe(obj), err)
		}
	}
	for _, obj := range objects {
		if stage(obj) != stageCRD {
			continue
		}
		err := poll(ctx, func(ctx context.Context) error {
			err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj.DeepCopy())
			if gone(err) {
				return nil
			}
			return errors.Join(err, errors.New("is still there"))
		})
		if err != nil {
			return fmt.Errorf("uninstall %s: %w", describe(obj), err)
		}
	}
	return nil
}

// gone reports whether err says that the object, or its kind, is not there.
func gone(err error) bool { return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) }

// The stages of an installation, in order.
const (
	stageNamespace = iota
	stageCRD
	stageObject
	stagePolicy  // decides about requests once it is bound
	stageWebhook // decides about requests at once
)

func stage(obj *unstructured.Unstructured) int {
	gvk := obj.GroupVersionKind()
	switch {
	case gvk.Group == "" && gvk.Kind == "Namespace":
		return stageNamespace
	case gvk.Group == "apiextensions.k8s.io":
		return stageCRD
	case isWebhookConfiguration(obj):
		return stageWebhook
	case gvk.Group == "admissionregistration.k8s.io":
		return stagePolicy
	default:
		return stageObject
	}
}

func describe(obj *unstructured.Unstructured) string {
	if obj.GetNamespace() == "" {
		return fmt.Sprintf("%s %q", obj.GetKind(), obj.GetName())
	}
	return fmt.Sprintf("%s %q in namespace %q", obj.GetKind(), obj.GetName(), obj.GetNamespace())
}

// poll asks check until it returns nil or the context ends. Then it says what
// check last found; that the context ended while it asked is no finding.
func poll(ctx context.Context, check func(context.Context) error) error {
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	var found error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if found == nil || ctx.Err() == nil {
			found = err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), found)
		case <-retry.C:
		}
	}
}
