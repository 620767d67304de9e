package crds

import (
	"embed"
	"fmt"
	"io/fs"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Files are the manifests: the four CRDs and a kustomization of them, and the
// published classes with theirs in the folder "classes".
//
//go:embed *.yaml classes/*.yaml
var Files embed.FS

// Objects returns the four CRDs.
func Objects() ([]*unstructured.Unstructured, error) { return load(".") }

// Classes returns the two classes that the platform publishes: general-purpose,
// which grants every capability, and unikernel, the default, which grants none.
func Classes() ([]*unstructured.Unstructured, error) { return load("classes") }

// load decodes the manifests in dir, in the order of their names.
func load(dir string) ([]*unstructured.Unstructured, error) {
	entries, err := fs.ReadDir(Files, dir)
	if err != nil {
		return nil, fmt.Errorf("list the manifests: %w", err)
	}
	sub, err := fs.Sub(Files, dir)
	if err != nil {
		return nil, fmt.Errorf("list the manifests: %w", err)
	}
	var objects []*unstructured.Unstructured
	for _, entry := range entries {
		if entry.IsDir() || entry.Name() == "kustomization.yaml" {
			continue
		}
		data, err := fs.ReadFile(sub, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read a manifest: %w", err)
		}
		// By way of JSON, since YAML alone would make every number a float.
		data, err = yaml.YAMLToJSONStrict(data)
		if err != nil {
			return nil, fmt.Errorf("decode %s: %w", entry.Name(), err)
		}
		obj := &unstructured.Unstructured{}
		if err := obj.UnmarshalJSON(data); err != nil {
			return nil, fmt.Errorf("decode %s: %w", entry.Name(), err)
		}
		objects = append(objects, obj)
	}
	return objects, nil
}
