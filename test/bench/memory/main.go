// Command memory states how much memory both processes of Causeway take beside
// many Instances, for longer than make bench has time for.
//
//	go run ./bench/memory -instances 100000 -deployments 5000 -churn 10m
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/causeway-webhook/causeway/test/bench/footprint"
	"github.com/causeway-webhook/causeway/test/environment"
)

func main() {
	var o footprint.Options
	flag.IntVar(&o.Instances, "instances", 100_000, "how many Instances there are")
	flag.IntVar(&o.Deployments, "deployments", 5_000, "how many deployments they are spread over; each has a Workload")
	flag.IntVar(&o.Writers, "writers", 32, "how many clients create and write at the same time")
	flag.DurationVar(&o.Churn, "churn", 10*time.Minute, "how long Instances change")
	flag.Parse()
	crlog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o footprint.Options) (err error) {
	dir, err := os.MkdirTemp("", "causeway-memory-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.Binary, err = environment.Binary(ctx, dir, false); err != nil {
		return err
	}
	moments, err := footprint.Measure(ctx, o, func(format string, args ...any) { fmt.Printf(format+"\n", args...) })
	if err != nil {
		return err
	}
	for _, m := range moments {
		for _, p := range []struct {
			name string
			footprint.Process
		}{{"statuspatch", m.Statuspatch}, {"webhook", m.Webhook}} {
			const mebi = 1 << 20
			fmt.Printf("%s: %s: resident %.0f MiB, heap in use %.0f MiB, %.0f goroutines\n", m.When, p.name, p.Resident/mebi, p.HeapInUse/mebi, p.Goroutines)
		}
	}
	return nil
}
