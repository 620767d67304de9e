package rollup_test

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestImports keeps the package pure: it computes, and others fetch and write.
func TestImports(t *testing.T) {
	allowed := map[string]bool{
		"k8s.io/apimachinery/pkg/apis/meta/v1":                    true,
		"github.com/causeway-webhook/causeway/statuspatch/reason": true,
	}
	impure := map[string]bool{"os": true, "net": true, "context": true, "log": true, "math/rand": true}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ImportsOnly)
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
				t.Errorf("%s imports %s, want only package reason, metav1 and the pure part of the standard library", e.Name(), path)
			}
		}
	}
}
