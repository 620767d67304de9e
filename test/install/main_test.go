package install_test

import (
	"context"
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/causeway-webhook/causeway/test/controlplane"
)

// config is the installer's on a control plane of this package's own.
var config *rest.Config

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, func(_ context.Context, cp *controlplane.ControlPlane) error {
		config = cp.AdminConfig()
		return nil
	}))
}
