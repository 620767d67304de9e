package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	cliflag "k8s.io/component-base/cli/flag"
)

// runners do the work once the flags are good. They are handed in so that flags are tested without a server.
type runners struct {
	webhook     func(context.Context, *webhookOptions) error
	statuspatch func(context.Context, *statuspatchOptions) error
	audit       func(context.Context, *auditOptions, io.Writer) error
}

// newCommand builds the command tree for one set of arguments.
func newCommand(args []string, run runners) *cobra.Command {
	root := &cobra.Command{
		Use:   "causeway",
		Short: "Tells a compute platform's customers why a workload is not running.",
		Long: `Causeway tells the customers of a compute platform the truth about why a workload is not running,
and stops a workload that could never run as asked before it is stored.`,
		Version:           versionLine(),
		SilenceErrors:     true, // main prints the error, once
		SilenceUsage:      true, // a page of flags hides the one line that matters
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetVersionTemplate("causeway {{.Version}}\n")
	root.SetArgs(args)
	root.AddCommand(
		subCommand(args, "webhook", "Refuse capabilities that a container's runtime class does not grant.",
			`Serves the validating webhook on Workloads, WorkloadDeployments and Instances. It refuses a container that
adds a Linux capability its runtime class does not grant, and says which would pass. Every replica is active.`,
			defaultWebhookOptions(), run.webhook),
		subCommand(args, "statuspatch", "Carry the reason of a failing Instance up to its Workload.",
			`Serves the webhooks on the status of Instances, WorkloadDeployments and Workloads, and repairs what no
request could. One replica is active at a time, the others stand by.`,
			defaultStatuspatchOptions(), run.statuspatch),
		auditCommand(args, run.audit),
	)
	return root
}

// options is what a sub-command needs of its flags.
type options interface {
	addFlags(*cliflag.NamedFlagSets)
	validate() []error
}

func subCommand[O options](args []string, name, short, long string, o O, run func(context.Context, O) error) *cobra.Command {
	cmd := &cobra.Command{Use: name + " [flags]", Short: short, Long: long, Version: versionLine()}
	cmd.SetVersionTemplate("causeway {{.Version}}\n")

	var sets cliflag.NamedFlagSets
	o.addFlags(&sets)
	global := sets.FlagSet("global")
	global.BoolP("help", "h", false, "Show this text and exit.")
	global.Bool("version", false, "Print the version and exit.")
	wrong := &wrongValues{}
	for _, section := range sets.Order {
		section := sets.FlagSets[section]
		section.SortFlags = false // the order of options.go is by importance
		section.VisitAll(wrong.remember)
		cmd.Flags().AddFlagSet(section)
	}
	cliflag.SetUsageAndHelpFunc(cmd, sets, columns())

	// Cobra stops at the first bad flag. Here unknown ones are let pass and bad values are remembered, so that all are
	// told at once.
	cmd.FParseErrWhitelist.UnknownFlags = true
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(append(wrong.errs, err)) })
	cmd.Args = cobra.ArbitraryArgs // judged below, with the rest
	cmd.RunE = func(cmd *cobra.Command, rest []string) error {
		errs := append(unknownFlags(cmd.Flags(), args), wrong.errs...)
		if len(errs) == 0 && len(rest) > 0 { // beside an unknown flag this is most likely its value
			errs = append(errs, fmt.Errorf("%q is not expected: there are flags only", rest))
		}
		if errs = append(errs, o.validate()...); len(errs) > 0 {
			return usage(errs)
		}
		return run(cmd.Context(), o)
	}
	return cmd
}

// usageError is an error that --help would have prevented.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usage joins errors into one, a line each.
func usage(errs []error) error {
	lines := make([]string, len(errs))
	for i, err := range errs {
		lines[i] = err.Error()
	}
	return usageError{errors.New(strings.Join(lines, "\n  and "))}
}

var errNotNamespacedName = errors.New("must be namespace/name")

// wrongValues collects what flags could not parse.
type wrongValues struct{ errs []error }

func (w *wrongValues) remember(f *pflag.Flag) { f.Value = rememberingValue{f.Value, f.Name, w} }

// rememberingValue never fails to parse; a flag whose value is wrong keeps its default, which no longer matters.
type rememberingValue struct {
	pflag.Value
	name  string
	wrong *wrongValues
}

func (v rememberingValue) Set(s string) error {
	err := v.Value.Set(s)
	switch {
	case err == nil:
	case errors.Is(err, errNotNamespacedName):
		v.wrong.errs = append(v.wrong.errs, flagError(v.name, "%v, not %q", err, s))
	default:
		v.wrong.errs = append(v.wrong.errs, flagError(v.name, "must be a %s, not %q", plainType(v.Type()), s))
	}
	return nil
}

func plainType(t string) string {
	switch t {
	case "bool":
		return "truth value (true or false)"
	case "int":
		return "whole number"
	case "duration":
		return "duration such as 2s or 500ms"
	default:
		return t
	}
}

// unknownFlags finds the arguments that look like flags and are none.
func unknownFlags(known *pflag.FlagSet, args []string) []error {
	var errs []error
	for _, arg := range args {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case strings.HasPrefix(name, "--"):
			if known.Lookup(name[2:]) == nil {
				errs = append(errs, fmt.Errorf("there is no flag %s%s", name, meant(known, name[2:])))
			}
		case strings.HasPrefix(name, "-") && len(name) > 1:
			if known.ShorthandLookup(name[1:2]) == nil && !isNumber(name) {
				errs = append(errs, fmt.Errorf("there is no flag %s", name[:2]))
			}
		}
	}
	return errs
}

// isNumber tells a negative value, given apart from its flag, from a shorthand.
func isNumber(s string) bool { return s[1] >= '0' && s[1] <= '9' }

// meant guesses a flag from what was typed, when one of the two contains the other.
func meant(known *pflag.FlagSet, typed string) string {
	var near []string
	known.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && typed != "" && (strings.Contains(f.Name, typed) || strings.Contains(typed, f.Name)) {
			near = append(near, "--"+f.Name)
		}
	})
	if len(near) == 0 {
		return ""
	}
	slices.Sort(near)
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// columns is the width --help is wrapped to, 0 (no wrapping) where output is no terminal.
func columns() int {
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return width
}
