package kubectl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// apply does what client-side apply does with an object that is not there yet:
// it looks, and then creates the object with the manifest in an annotation.
func (c *Client) apply(ctx context.Context, file string) error {
	object, err := c.manifest(file)
	if err != nil {
		return err
	}
	kind := object.GroupVersionKind()
	m, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return usagef("%s: %v", file, err)
	}
	err = c.rest.Get().AbsPath(path(m, object.GetName())...).Do(ctx).Error()
	if err == nil {
		return usagef("%s %q is there already; applying a change is not known here", kind.Kind, object.GetName())
	}
	if !apierrors.IsNotFound(err) {
		return err
	}

	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		object.SetNamespace(Namespace)
	}
	body, err := withLastApplied(object)
	if err != nil {
		return err
	}
	err = c.rest.Post().AbsPath(path(m, "")...).
		Param("fieldManager", "kubectl-client-side-apply").
		// kubectl has the server refuse misspelt fields.
		Param("fieldValidation", "Strict").
		SetHeader("Content-Type", "application/json").
		Body(body).Do(ctx).Error()
	if err != nil {
		return withSource("creating", file, err)
	}
	printf(c.out, "%s/%s created\n", fullName(kind.GroupKind()), object.GetName())
	return nil
}

func (c *Client) manifest(file string) (*unstructured.Unstructured, error) {
	data, err := fs.ReadFile(c.files, file)
	if err != nil {
		return nil, usagef("%v", err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(data, &object.Object); err != nil {
		return nil, usagef("%s: %v", file, err)
	}
	return object, nil
}

// withLastApplied encodes an object with the annotation that later applies
// compare with. The annotation holds the object without it.
func withLastApplied(object *unstructured.Unstructured) ([]byte, error) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	object.SetAnnotations(annotations)
	// SetAnnotations leaves an empty map out, kubectl does not.
	if err := unstructured.SetNestedStringMap(object.Object, annotations, "metadata", "annotations"); err != nil {
		return nil, fmt.Errorf("setting annotations: %w", err)
	}
	bare, err := json.Marshal(object.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding the manifest: %w", err)
	}
	annotations[corev1.LastAppliedConfigAnnotation] = string(bare) + "\n"
	object.SetAnnotations(annotations)
	body, err := json.Marshal(object.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding the object: %w", err)
	}
	return body, nil
}

// withSource says in the message of a status which file it is about.
func withSource(verb, file string, err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return fmt.Errorf("error when %s %q: %w", verb, file, err)
	}
	s := status.Status()
	s.Message = fmt.Sprintf("error when %s %q: %s", verb, file, s.Message)
	return &apierrors.StatusError{ErrStatus: s}
}
