package podstate_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestImports keeps the package pure: it judges, and others watch and write.
func TestImports(t *testing.T) {
	allowed := map[string]bool{
		"k8s.io/api/core/v1":                                      true,
		"k8s.io/apimachinery/pkg/apis/meta/v1":                    true,
		"github.com/causeway-webhook/causeway/statuspatch/reason": true,
		"github.com/causeway-webhook/causeway/statuspatch/rollup": true,
	}
	impure := map[string]bool{"os": true, "net": true, "context": true, "log": true, "math/rand": true}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			standard := !strings.Contains(strings.SplitN(path, "/", 2)[0], ".")
			if !allowed[path] && (!standard || impure[path]) {
				t.Errorf("%s imports %s, want only API types, packages reason and rollup, and the pure part of the standard library", name, path)
			}
		}
	}
}
