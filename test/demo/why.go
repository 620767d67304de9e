package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
)

// plugin is `kubectl why` as the customer has it: the program, and where to find
// the API server.
type plugin struct{ path, kubeconfig string }

// preparePlugin builds the program into dir and lets it be called by the
// customer.
func (w *world) preparePlugin(ctx context.Context, dir string) (err error) {
	if w.plugin.path, err = environment.Plugin(ctx, dir, false); err != nil {
		return err
	}
	w.plugin.kubeconfig = filepath.Join(dir, "customer.kubeconfig")
	return controlplane.WriteKubeconfig(w.plugin.kubeconfig, w.Config(environment.Customer))
}

// run runs the program, which answers by its exit code too.
func (p plugin) run(ctx context.Context, args string) (string, error) {
	cmd := exec.CommandContext(ctx, p.path, strings.Fields(args)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.kubeconfig)
	output, err := cmd.Output()
	var exited *exec.ExitError
	if errors.As(err, &exited) && exited.ExitCode() == 1 {
		return string(output), nil // something fails, and it said so
	}
	if err != nil {
		return "", fmt.Errorf("kubectl why %s: %w", args, err)
	}
	return string(output), nil
}

// why is `kubectl why` and all that it has to print.
func why(args, want string) act {
	return act{
		line: "$ kubectl why " + args,
		do:   func(ctx context.Context, w *world) (string, error) { return w.plugin.run(ctx, args) },
		want: want,
	}
}

// What `kubectl why` says in the story.
const (
	whyCrashing = `
Workload default/api is not available: 0 of 3 instances ready.

3 of 3 instances are repeatedly exiting and restarting: Container "app" keeps
exiting (last exit code 1); restarting.

What to do
  InstanceCrashing: Find out why the process exits: see its logs and the exit
    code (137: killed, often for want of memory), and check its command,
    environment and capabilities.

Workload api                     0/3  InstanceCrashing
└─ placement main                0/3  InstanceCrashing
   └─ deployment api-<hash>  0/3  InstanceCrashing  at us
      └─ api-<hash>-0             InstanceCrashing  2 more like this
           Container "app" keeps exiting (last exit code 1); restarting`

	whyPartly = `
Workload default/api is available, but partly failing: 1 of 3 instances ready.

At least one available placement was found; placement "main": 2 of 3 instances
are repeatedly exiting and restarting.

What to do
  InstanceCrashing: Find out why the process exits: see its logs and the exit
    code (137: killed, often for want of memory), and check its command,
    environment and capabilities.

Workload api                     1/3  Available
└─ placement main                1/3  Available
   └─ deployment api-<hash>  1/3  Available  at us
      ├─ api-<hash>-1             InstanceCrashing  1 more like this
      │    Container "app" keeps exiting (last exit code 1); restarting
      └─ api-<hash>-0             Ready`

	whyReady = `
Workload default/api is available: 3 of 3 instances ready.

Workload api                     3/3  Available
└─ placement main                3/3  Available
   └─ deployment api-<hash>  3/3  Available  at us
      └─ api-<hash>-0             Ready  2 more like this`
)
