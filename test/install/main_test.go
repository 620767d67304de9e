package install_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/causeway-webhook/causeway/test/controlplane"
)

// config is the installer's on a control plane of this package's own.
var config *rest.Config

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	ctx := context.Background()
	binaries, err := controlplane.EnsureBinaries(ctx, os.Stderr)
	if err != nil {
		return 0, err
	}
	cp, err := controlplane.Start(ctx, controlplane.Options{Binaries: binaries})
	if err != nil {
		return 0, err
	}
	defer cp.Stop()
	config = cp.AdminConfig()
	return m.Run(), nil
}
