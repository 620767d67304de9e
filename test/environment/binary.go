package environment

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// BinaryVariable names a causeway binary that is built already.
const BinaryVariable = "CAUSEWAY_BINARY"

// Binary is the path of the causeway binary: the one BinaryVariable names, else
// one built into dir, by which it leaves when dir does. race builds it with the
// race detector, which needs a C compiler.
func Binary(ctx context.Context, dir string, race bool) (string, error) {
	if path := os.Getenv(BinaryVariable); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("%s: %w", BinaryVariable, err)
		}
		return path, nil
	}
	path := filepath.Join(dir, "causeway")
	args := []string{"build", "-o", path}
	if race {
		args = append(args, "-race")
	}
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/causeway")...)
	build.Dir = Root()
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building causeway: %w\n%s", err, out)
	}
	return path, nil
}

// Root is the folder of the product's module.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}
