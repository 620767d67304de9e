package install

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Render builds the kustomization in dir, as "kubectl kustomize" does with its
// default settings.
func Render(dir string) ([]*unstructured.Unstructured, error) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", dir, err)
	}
	var objects []*unstructured.Unstructured
	for _, resource := range resources.Resources() {
		// By way of JSON, since the resource's own map holds whole numbers in a type
		// that unstructured objects may not.
		data, err := resource.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("render %s: %s: %w", dir, resource.CurId(), err)
		}
		obj := &unstructured.Unstructured{}
		if err := obj.UnmarshalJSON(data); err != nil {
			return nil, fmt.Errorf("render %s: %s: %w", dir, resource.CurId(), err)
		}
		objects = append(objects, obj)
	}
	return objects, nil
}
