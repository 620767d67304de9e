package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// RunTests is for the TestMain of a package whose tests share a control plane:
// it starts one, has it prepared, runs the tests, a *testing.M, and stops it.
// What it returns is the exit code; an error is printed and makes it 1.
func RunTests(tests interface{ Run() int }, prepare func(context.Context, *ControlPlane) error) int {
	code, err := runTests(context.Background(), tests, prepare)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func runTests(ctx context.Context, tests interface{ Run() int }, prepare func(context.Context, *ControlPlane) error) (code int, err error) {
	// Where they have to be built, which takes minutes, that is seen.
	binaries, err := EnsureBinaries(ctx, os.Stderr)
	if err != nil {
		return 0, err
	}
	cp, err := Start(ctx, Options{Binaries: binaries})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cp.Stop()) }()
	if err := prepare(ctx, cp); err != nil {
		return 0, err
	}
	return tests.Run(), nil
}
