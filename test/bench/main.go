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

	"github.com/causeway-webhook/causeway/test/bench/report"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
)

type options struct {
	run   string
	pairs int
	quick bool
	docs  string
	// profiles is where profiles go.
	profiles string
}

func main() {
	var o options
	flag.StringVar(&o.run, "run", "", "measure only the cases whose name matches this expression")
	flag.IntVar(&o.pairs, "pairs", 60, "how many pairs a series has")
	flag.BoolVar(&o.quick, "quick", false, "make all as short as it can be; the numbers mean nothing")
	flag.StringVar(&o.docs, "docs", "", "the folder to write benchmarks.md and its plot into; nothing is written if empty")
	flag.StringVar(&o.profiles, "profiles", "", "a folder that is there, for CPU profiles of Causeway under the load of each case; none are written if empty")
	flag.Parse()
	crlog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	cases, err := chosen(o.run)
	if err != nil {
		return err
	}
	if o.docs != "" && (o.quick || o.run != "") {
		return errors.New("only a whole run is written down: give -docs without -run and -quick")
	}
	e := &env{pairs: o.pairs, quick: o.quick, profiles: o.profiles, out: os.Stderr, began: time.Now()}
	if o.quick {
		e.pairs = min(e.pairs, 2)
	}
	if e.pairs < 1 {
		return errors.New("-pairs must be at least 1")
	}
	if e.dir, err = os.MkdirTemp("", "causeway-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close(), os.RemoveAll(e.dir)) }()
	programs, err := controlplane.EnsureBinaries(ctx, os.Stderr)
	if err != nil {
		return err
	}
	if e.binary, err = environment.Binary(ctx, e.dir, false); err != nil {
		return err
	}
	r := report.Report{Machine: report.ThisMachine(ctx, programs.APIServer, programs.Etcd, environment.Root()), Pairs: e.pairs}
	fmt.Print(r.Machine)

	var failed []error
	for _, c := range cases {
		e.say("%s", c.name)
		table, err := c.measure(ctx, e)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", c.name, err))
			e.say("%s failed: %v", c.name, err)
			if ctx.Err() != nil {
				break
			}
			continue
		}
		r.Tables = append(r.Tables, table)
		if err := report.Print(os.Stdout, table); err != nil {
			return err
		}
	}
	r.Took = time.Since(e.began)
	if err := errors.Join(failed...); err != nil || o.docs == "" {
		return err
	}
	return r.Write(o.docs)
}
