package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Exit codes. The last is what a shell says of a program that Ctrl-C ended.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// keepVariable leaves all of it running after the story.
const keepVariable = "KEEP"

func main() { os.Exit(demo(os.Stdout, os.Stderr)) }

// demo plays the demo and returns the exit code.
func demo(out, errOut io.Writer) int {
	// The platform's clients complain when their server is stopped; what matters
	// to the story is an error of a step.
	klog.SetLogger(logr.Discard())
	log.SetLogger(logr.Discard())

	keep, err := parseKeep(os.Getenv(keepVariable))
	if err != nil {
		fmt.Fprintln(errOut, "error:", err)
		return exitUsage
	}
	// Signals stay caught until everything has ended: a second Ctrl-C must not
	// cut the cleaning up short.
	ctx, release := signal.NotifyContext(context.Background(), stopSignals()...)
	defer release()
	// A reader that goes away is an error of the next write, which cleans up too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	quiet := context.AfterFunc(ctx, func() { fmt.Fprintln(errOut, "\nStopping.") })
	defer quiet()

	err = show(ctx, keep, out, errOut)
	switch {
	case ctx.Err() != nil:
		// An error of the cleaning up comes with the cause, joined to it.
		if err != nil && err != context.Cause(ctx) {
			fmt.Fprintln(errOut, "error:", err)
			return exitInterrupted
		}
		fmt.Fprintln(errOut, "Stopped. Nothing is left running.")
		return exitInterrupted
	case err != nil:
		fmt.Fprintln(errOut, "\nerror:", err)
		return exitFailed
	}
	return 0
}

// stopSignals end the demo. A hang-up does, unless whoever started the demo
// wanted it to outlive a terminal.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

func parseKeep(value string) (bool, error) {
	if value == "" {
		return false, nil
	}
	keep, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("%s=%q: use 1 or 0", keepVariable, value)
	}
	return keep, nil
}
