package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
)

// Values of --output.
const (
	auditText = "text"
	auditJSON = "json"
)

// defaultNamespace is where deploy/ installs Causeway unless told otherwise.
const defaultNamespace = "causeway-system"

// auditOptions are the flags of `causeway audit`.
type auditOptions struct {
	Kubeconfig string
	Context    string
	Output     string
}

func defaultAuditOptions() *auditOptions { return &auditOptions{Output: auditText} }

func (o *auditOptions) addFlags(sets *cliflag.NamedFlagSets) {
	flags := sets.FlagSet("audit")
	flags.StringVarP(&o.Output, "output", "o", o.Output, `"text" or "json".`)
	flags.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig,
		"Path to the kubeconfig of the control plane to audit. Without it one is found as kubectl does.")
	flags.StringVar(&o.Context, "context", o.Context, "The context of the kubeconfig, if not the current one.")
}

func (o *auditOptions) validate() []error {
	if o.Output != auditText && o.Output != auditJSON {
		return []error{flagError("output", "must be %q or %q, not %q", auditText, auditJSON, o.Output)}
	}
	return nil
}

// auditCommand is a sub-command that prints, and whose exit code tells what it found.
func auditCommand(args []string, run func(context.Context, *auditOptions, io.Writer) error) *cobra.Command {
	var cmd *cobra.Command
	cmd = subCommand(args, "audit", "List what is stored and would be refused if it were submitted today.",
		`Judges every stored Workload, WorkloadDeployment and Instance by the runtime classes of today, and changes
nothing. Run it before the refusal is turned on, and before a class is tightened. What is listed keeps working: what is
stored may stay, and its children may be made.

Exit code: 0 if nothing would be refused, 1 if something would, 2 if the control plane could not be asked.`,
		defaultAuditOptions(), func(ctx context.Context, o *auditOptions) error { return run(ctx, o, cmd.OutOrStdout()) })
	judge, wrongFlag := cmd.RunE, cmd.FlagErrorFunc()
	cmd.RunE = func(cmd *cobra.Command, rest []string) error { return notAsked(judge(cmd, rest)) }
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return notAsked(wrongFlag(cmd, err)) })
	return cmd
}

// notAsked gives an error that has no exit code the one for a question that got no answer.
func notAsked(err error) error {
	if err == nil || errors.As(err, new(exitError)) {
		return err
	}
	return exitError{err, exitNotAsked}
}
