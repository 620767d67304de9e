package install_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/causeway-webhook/causeway/test/install"
)

var deploy = filepath.Join("..", "..", "deploy")

func TestManifestSaysWhatItIsMadeOf(t *testing.T) {
	rendered, err := install.Manifest{Deploy: deploy, Overlay: "status-only", Components: []string{"hold-reason"}}.Render()
	require.NoError(t, err)
	first, rest, _ := strings.Cut(string(rendered), "\n")
	assert.Equal(t, "# Generated from deploy/ of github.com/causeway-webhook/causeway: overlay status-only with hold-reason. Change it there.", first)
	assert.True(t, strings.HasPrefix(rest, "apiVersion: v1\nkind: Namespace\n"), "what others live in comes first")
	assert.Contains(t, rest, "name: causeway-hold-reason")
}

func TestManifestNamesTheImage(t *testing.T) {
	for reference, want := range map[string]string{
		"":                                      "image: causeway\n",
		"r.example/causeway":                    "image: r.example/causeway\n",
		"r.example/causeway:v1":                 "image: r.example/causeway:v1\n",
		"r.example:5000/a/causeway":             "image: r.example:5000/a/causeway\n",
		"r.example:5000/a/causeway:v1":          "image: r.example:5000/a/causeway:v1\n",
		"r.example/causeway@sha256:0123456789a": "image: r.example/causeway@sha256:0123456789a\n",
	} {
		rendered, err := install.Manifest{Deploy: deploy, Overlay: "refusal-only", Image: reference}.Render()
		require.NoError(t, err)
		assert.Contains(t, string(rendered), want)
	}
}

func TestManifestFollowsNamespaceAndPrefix(t *testing.T) {
	rendered, err := install.Manifest{Deploy: deploy, Overlay: "default", Namespace: "elsewhere", Prefix: "acme-"}.Render()
	require.NoError(t, err)
	assert.Contains(t, string(rendered), "name: acme-causeway-overlay\n")
	assert.NotContains(t, string(rendered), "causeway-system")
}

func TestManifestSaysWhatIsMissing(t *testing.T) {
	_, err := install.Manifest{Deploy: deploy, Overlay: "none"}.Render()
	require.ErrorContains(t, err, "render a manifest: ")
	require.ErrorContains(t, err, "none")
}
