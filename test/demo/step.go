package main

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/demo/kubectl"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// step is one scene of the story.
type step struct {
	// name is how a failure names it.
	name  string
	title string
	acts  []act
}

// act is one line of a step.
type act struct {
	// line is what is printed: a command after "$ ", what happens after "# ".
	line string
	do   func(context.Context, *world) (output string, err error)
	// want is the whole output, in the notation of matches.
	want string
}

// patience bounds what has no promise of its own. It is no claim about anybody:
// it makes a hang a failure.
const patience = 90 * time.Second

// world is what the story is played in.
type world struct {
	*environment.Environment
	// kubectl and reader are the customer's.
	kubectl *kubectl.Client
	reader  client.Client
	plugin  plugin
	// killed is when the active process was killed.
	killed time.Time
}

// run is a command and all that it has to print.
func run(command, want string) act {
	return act{
		line: "$ kubectl " + command,
		do:   func(ctx context.Context, w *world) (string, error) { return w.kubectl.Run(ctx, command) },
		want: want,
	}
}

// happens is something that prints nothing, and has to work.
func happens(line string, do func(context.Context, *world) error) act {
	return act{
		line: "# " + line,
		do:   func(ctx context.Context, w *world) (string, error) { return "", do(ctx, w) },
	}
}

// reports has the provider find the Instances of these ordinals in a state. It
// ends when the writes of their statuses have returned.
func reports(line string, state platform.State, ordinals ...int) act {
	return happens(line, func(ctx context.Context, w *world) error { return w.report(ctx, state, ordinals) })
}

// waits lasts until the platform has got somewhere.
func waits(line string, reached func(context.Context, *world) (bool, string)) act {
	return happens(line, func(ctx context.Context, w *world) error {
		return environment.WaitFor(ctx, line, func() (bool, string) { return reached(ctx, w) })
	})
}
