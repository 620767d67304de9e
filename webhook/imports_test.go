package webhook

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The two jobs and their certificates stand apart: none imports another.
func TestNothingElseOfThisModuleIsImported(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range f.Imports {
			if path := strings.Trim(i.Path.Value, `"`); path != "github.com/causeway-webhook/causeway/webhook" {
				assert.NotContains(t, path, "causeway-webhook", name)
			}
		}
	}
}
