package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(realMain()) }

// realMain lets deferred calls run before the process ends.
func realMain() int {
	preferQuickDeathOfDeadConnections()
	ctx, stop := untilSignal()
	defer stop()

	err := newCommand(os.Args[1:], runners{webhook: runWebhook, statuspatch: runStatuspatch, audit: runAudit}).ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "causeway: "+err.Error())
	if errors.As(err, new(usageError)) {
		fmt.Fprintln(os.Stderr, "See --help for all flags.")
	}
	var exit exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	return 1
}

// untilSignal ends the context at the first SIGTERM or SIGINT, which starts an orderly stop, and the process at the
// second: whoever asks twice does not want to wait.
func untilSignal() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-signals
		cancel()
		<-signals
		fmt.Fprintln(os.Stderr, "causeway: second signal, stopping at once")
		os.Exit(1)
	}()
	return ctx, cancel
}

// preferQuickDeathOfDeadConnections makes client-go notice a silent connection within 3 s; its own default is 45 s, in
// which a cut watch looks like a quiet one. client-go has no other knob for this, and reads the environment when a
// transport is made, so this comes before everything else. What an operator set stays.
func preferQuickDeathOfDeadConnections() {
	for name, value := range map[string]string{
		"HTTP2_READ_IDLE_TIMEOUT_SECONDS": "2",
		"HTTP2_PING_TIMEOUT_SECONDS":      "1",
	} {
		if _, set := os.LookupEnv(name); !set {
			_ = os.Setenv(name, value) // fails only for a malformed name
		}
	}
}
