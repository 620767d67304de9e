package deploy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// withComponents writes a kustomization of an overlay and further components, as an operator does, and returns its folder.
// The literals are those of the ConfigMap causeway-url, for the component of that name.
func withComponents(t *testing.T, name string, components, literals []string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir()) // paths in a kustomization are relative
	require.NoError(t, err)
	from := func(path string) string {
		deploy, err := filepath.Abs("../../deploy")
		require.NoError(t, err)
		relative, err := filepath.Rel(dir, filepath.Join(deploy, path))
		require.NoError(t, err)
		return relative
	}
	k := types.Kustomization{
		TypeMeta:  types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Resources: []string{from("overlays/" + name)},
	}
	for _, component := range components {
		k.Components = append(k.Components, from("components/"+component))
	}
	if len(literals) > 0 {
		k.ConfigMapGenerator = []types.ConfigMapArgs{{GeneratorArgs: types.GeneratorArgs{Name: "causeway-url",
			KvPairSources: types.KvPairSources{LiteralSources: literals}}}}
	}
	data, err := yaml.Marshal(k)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), data, 0o600))
	return dir
}
