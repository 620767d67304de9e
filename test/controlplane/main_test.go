package controlplane_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/causeway-webhook/causeway/test/controlplane"
)

// shared is the control plane of all tests that do not restart or stop it.
var shared *controlplane.ControlPlane

func TestMain(m *testing.M) {
	if os.Getenv(orphanEnv) != "" {
		os.Exit(runOrphan())
	}
	os.Exit(controlplane.RunTests(m, func(_ context.Context, cp *controlplane.ControlPlane) error {
		shared = cp
		return nil
	}))
}

// startOwn starts a control plane that the test may stop.
func startOwn(t *testing.T, opts controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	cp, err := controlplane.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cp
}

// orphanEnv tells the test binary to play the part of a caller that is killed.
const orphanEnv = "CAUSEWAY_TEST_ORPHAN"

// runOrphan starts a control plane, says which processes it runs, and waits to
// be killed.
func runOrphan() int {
	cp, err := controlplane.Start(context.Background(), controlplane.Options{Dir: os.Getenv(orphanEnv)})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, pid := range cp.PIDs() {
		fmt.Println(pid)
	}
	os.Stdout.Close()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}
