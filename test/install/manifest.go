package install

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// baseNamespace is the one that deploy/base names.
const baseNamespace = "causeway-system"

// Manifest says what one file is rendered from.
type Manifest struct {
	// Deploy is the folder deploy/ of the product.
	Deploy string
	// Overlay is the name of one of its overlays, Components those of further
	// components.
	Overlay    string
	Components []string
	// Namespace, Prefix and Image replace those of the overlay; what is empty
	// stays. Image is name:tag or name@digest.
	Namespace, Prefix, Image string
}

// Render returns the file, in an order in which it can be applied: namespaces
// first, and what decides about requests last.
func (m Manifest) Render() ([]byte, error) {
	dir, err := os.MkdirTemp("", "causeway-manifest-")
	if err != nil {
		return nil, fmt.Errorf("render a manifest: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	kustomization, err := m.kustomization(dir)
	if err != nil {
		return nil, fmt.Errorf("render a manifest: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), kustomization, 0o600); err != nil {
		return nil, fmt.Errorf("render a manifest: %w", err)
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	resources, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("render a manifest: %w", err)
	}
	rendered, err := resources.AsYaml()
	if err != nil {
		return nil, fmt.Errorf("render a manifest: %w", err)
	}
	if m.Namespace != "" && bytes.Contains(rendered, []byte(baseNamespace)) {
		return nil, fmt.Errorf("render a manifest: something in overlay %s does not follow the namespace; write a kustomization for it", m.Overlay)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Generated from deploy/ of github.com/causeway-webhook/causeway: overlay %s", m.Overlay)
	if len(m.Components) > 0 {
		fmt.Fprintf(&out, " with %s", strings.Join(m.Components, ", "))
	}
	fmt.Fprintf(&out, ". Change it there.\n%s", rendered)
	return out.Bytes(), nil
}

// kustomization is an overlay over the overlay, as an operator would write it.
func (m Manifest) kustomization(dir string) ([]byte, error) {
	// Paths in a kustomization are relative, and the system may know a folder for
	// temporary files by a link.
	from, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	deploy, err := filepath.Abs(m.Deploy)
	if err == nil {
		deploy, err = filepath.EvalSymlinks(deploy)
	}
	if err != nil {
		return nil, err
	}
	at := func(parts ...string) string {
		path, relErr := filepath.Rel(from, filepath.Join(append([]string{deploy}, parts...)...))
		err = errors.Join(err, relErr)
		return filepath.ToSlash(path)
	}
	k := types.Kustomization{
		TypeMeta:   types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Resources:  []string{at("overlays", m.Overlay)},
		Namespace:  m.Namespace,
		NamePrefix: m.Prefix,
	}
	for _, component := range m.Components {
		k.Components = append(k.Components, at("components", component))
	}
	if m.Namespace != "" || m.Prefix != "" {
		k.Transformers = []string{at("transformers", "own-name")}
		if m.Overlay != "self-managed" { // the others have a certificate of cert-manager's
			k.Transformers = append(k.Transformers, at("transformers", "own-certificate"))
		}
	}
	if m.Image != "" {
		k.Images = []types.Image{image(m.Image)}
	}
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(k)
}

// image replaces the name that deploy/ uses, which is no registry's.
func image(reference string) types.Image {
	i := types.Image{Name: "causeway", NewName: reference}
	if name, digest, ok := strings.Cut(reference, "@"); ok {
		i.NewName, i.Digest = name, digest
	} else if at := strings.LastIndex(reference, ":"); at > strings.LastIndex(reference, "/") { // else the colon is a port's
		i.NewName, i.NewTag = reference[:at], reference[at+1:]
	}
	return i
}
