// Prepare makes sure that the programs of the control plane are there, building
// them if need be, and prints their paths. Run before the tests, it shows its
// progress, which "go test" would hold back until a package has finished.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/causeway-webhook/causeway/test/controlplane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b, err := controlplane.EnsureBinaries(ctx, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	fmt.Println(b.Etcd)
	fmt.Println(b.APIServer)
}
