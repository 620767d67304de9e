package deploy_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// What is installed is written down here and nowhere else: a second copy of a manifest is one that is not kept true.
func TestNoManifestHasASecondCopy(t *testing.T) {
	type object struct {
		Kind     string
		Metadata struct{ Name string }
	}
	root := ".."
	places := map[object][]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".git") || path == filepath.Join(root, "bin")) {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
		for {
			var o object
			if documents.Decode(&o) != nil {
				return nil // the end, or no manifest
			}
			if strings.HasPrefix(o.Metadata.Name, "causeway") {
				places[o] = append(places[o], path)
			}
		}
	})
	require.NoError(t, err)
	require.NotEmpty(t, places)
	for o, paths := range places {
		for _, path := range paths {
			assert.True(t, strings.HasPrefix(path, filepath.Join(root, "deploy")), "%s %s is in %s", o.Kind, o.Metadata.Name, path)
		}
		if o.Kind != "Deployment" { // each half patches its container in
			assert.Len(t, paths, 1, "%s %s", o.Kind, o.Metadata.Name)
		}
	}
}
