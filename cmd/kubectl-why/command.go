package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/causeway-webhook/causeway/cmd/kubectl-why/tree"
)

// version is set by the release build, to nothing where there is no tag.
var version string

// options are what one call asks for.
type options struct {
	streams genericiooptions.IOStreams
	config  *genericclioptions.ConfigFlags
	// out and err tell what the streams lead to.
	out, err terminal

	allNamespaces bool
	selector      string
	output        string
	watch         bool

	namespace string
	names     []string
}

// terminal is what a stream leads to: its width in columns, 0 where it is no
// terminal.
type terminal struct{ width int }

func (t terminal) is() bool { return t.width > 0 }

func terminalOf(f *os.File) terminal {
	if f == nil || !term.IsTerminal(int(f.Fd())) {
		return terminal{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = usualWidth
	}
	return terminal{width}
}

const usualWidth = 80

// newCommand builds the command for one call.
func newCommand(streams genericiooptions.IOStreams, out, err terminal) *cobra.Command {
	o := &options{streams: streams, config: genericclioptions.NewConfigFlags(true), out: out, err: err}
	cmd := &cobra.Command{
		Use:   "kubectl-why [workload/]NAME... [flags]",
		Short: "Say why a workload is not running, or that it is.",
		Long: `Say why a workload is not running, or that it is: the cause first, what to do about it, and the tree from the
workload over its placements and deployments down to its instances. Without a name all workloads of the namespace
are explained.

The answer is computed from what the instances report. Where a stored status says something else, that is shown too.

Exit code: 0 if all is ready, 1 if something fails or is not ready yet, 2 if it was called wrongly or could not read.`,
		Example: `  kubectl why api -n shop
  kubectl why workload/api --watch
  kubectl why -A
  kubectl why api -o json`,
		Version:               cmp.Or(version, "development build"),
		Annotations:           map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl why"},
		DisableFlagsInUseLine: true,
		SilenceErrors:         true, // main prints the error, once
		SilenceUsage:          true,
		ValidArgsFunction:     o.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.SetIn(streams.In)
	cmd.SetOut(streams.Out)
	cmd.SetErr(streams.ErrOut)
	flags := cmd.Flags()
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Explain the workloads of all namespaces.")
	flags.StringVarP(&o.selector, "selector", "l", "", "Explain the workloads that match this label selector.")
	flags.StringVarP(&o.output, "output", "o", "",
		"One of json, yaml, and wide: each instance by itself, every message, no line broken.")
	flags.BoolVarP(&o.watch, "watch", "w", false, "Explain again whenever the answer changes, until interrupted.")
	o.config.AddFlags(flags)
	o.registerCompletions(cmd)
	return cmd
}

// complete checks what the flags and arguments say together.
func (o *options) complete(args []string) (err error) {
	switch o.output {
	case "", outputWide, outputJSON, outputYAML:
	default:
		return fmt.Errorf("--output must be json, yaml or wide, not %q", o.output)
	}
	if o.names, err = names(args); err != nil {
		return err
	}
	if len(o.names) > 0 && o.allNamespaces {
		return errors.New("a workload is named by its namespace and its name: give -n instead of --all-namespaces")
	}
	if len(o.names) > 0 && o.selector != "" {
		return errors.New("give names or --selector, not both")
	}
	if o.allNamespaces {
		return nil
	}
	if o.namespace, _, err = o.config.ToRawKubeConfigLoader().Namespace(); err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return nil
}

// run reads, explains and prints, once or again and again.
func (o *options) run(ctx context.Context) error {
	source, err := newSource(o)
	if err != nil {
		return err
	}
	if o.watch {
		return o.follow(ctx, source)
	}
	explanations, err := o.look(ctx, source)
	if err != nil {
		return err
	}
	if err := o.print(explanations); err != nil {
		return err
	}
	return o.verdict(explanations)
}

// look reads and explains. A write of an Instance's status and those of its
// parents follow each other within milliseconds; what was read between them is
// no contradiction, so one is told only where a second look finds it too. A
// long list is not worth a second one.
func (o *options) look(ctx context.Context, source *source) ([]tree.Explanation, error) {
	explanations, err := source.explain(ctx)
	if err != nil || len(explanations) != 1 || !explanations[0].Differs {
		return explanations, err
	}
	return source.explain(ctx)
}

// verdict is what the exit code tells. A Workload that was named and has gone
// since is not ready either.
func (o *options) verdict(explanations []tree.Explanation) error {
	if len(explanations) < len(o.names) {
		return errFailing
	}
	for _, e := range explanations {
		if e.State != tree.Ready {
			return errFailing
		}
	}
	return nil
}
