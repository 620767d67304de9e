package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
)

// The exit codes.
const (
	exitReady   = 0
	exitFailing = 1
	exitTrouble = 2
)

// errFailing ends a run that told of something that is not as it should be.
var errFailing = errors.New("not everything is ready")

func main() { os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr)) }

// run is the process, given its arguments and files.
func run(args []string, in, out, errOut *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	rest.SetDefaultWarningHandler(rest.NoWarnings{}) // a warning is for who writes, and this only reads

	streams := genericiooptions.IOStreams{In: in, Out: out, ErrOut: errOut}
	cmd := newCommand(streams, terminalOf(out), terminalOf(errOut))
	cmd.SetArgs(arguments(args))
	switch err := cmd.ExecuteContext(ctx); {
	case err == nil:
		return exitReady
	case errors.Is(err, errFailing):
		return exitFailing
	default:
		_, _ = fmt.Fprintf(errOut, "error: %v\n", err)
		return exitTrouble
	}
}

// arguments are those of the command. kubectl completes a plugin's arguments by
// a second executable, kubectl_complete-why; a link of that name to this one
// will do.
func arguments(args []string) []string {
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	if name == "kubectl_complete-why" {
		return append([]string{"__complete"}, args[1:]...)
	}
	return args[1:]
}
