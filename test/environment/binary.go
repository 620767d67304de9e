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
	return build(ctx, dir, "causeway", race)
}

// Shipped is the path of a causeway binary built into dir as it is shipped, that
// is without the race detector, whatever BinaryVariable names: for tests that
// judge how long things take.
func Shipped(ctx context.Context, dir string) (string, error) {
	return build(ctx, dir, "causeway", false)
}

// Plugin is the path of the kubectl plugin, built like Binary builds.
func Plugin(ctx context.Context, dir string, race bool) (string, error) {
	return build(ctx, dir, "kubectl-why", race)
}

// build builds one of the product's commands into dir.
func build(ctx context.Context, dir, command string, race bool) (string, error) {
	path := filepath.Join(dir, command)
	args, cgo := []string{"build", "-o", path}, "CGO_ENABLED=0"
	if race {
		args, cgo = append(args, "-race"), "CGO_ENABLED=1"
	}
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/"+command)...)
	build.Dir = Root()
	// A build that is cancelled ends at once, compilers included, and leaves what
	// it was working on. So it works where it leaves with dir.
	build.Env = append(os.Environ(), cgo, "GOTMPDIR="+dir)
	ownGroup(build)
	out, err := build.CombinedOutput()
	if ctx.Err() != nil {
		return "", fmt.Errorf("building %s: %w", command, context.Cause(ctx))
	}
	if err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", command, err, out)
	}
	return path, nil
}

// Root is the folder of the product's module.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}
