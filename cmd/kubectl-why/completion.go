package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// completeTimeout bounds what a shell waits for at a keystroke.
const completeTimeout = 2 * time.Second

const noFiles = cobra.ShellCompDirectiveNoFileComp

// completeNames offers the namespace's Workloads, behind the kind if that is
// typed already.
func (o *options) completeNames(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	namespace, _, err := o.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, noFiles
	}
	kind, _, qualified := strings.Cut(typed, "/")
	var offers []string
	for _, name := range o.existing(cmd.Context(), workloads, namespace) {
		if slices.Contains(args, name) {
			continue
		}
		if qualified {
			name = kind + "/" + name
		}
		offers = append(offers, name)
	}
	return offers, noFiles
}

// registerCompletions offers values for flags.
func (o *options) registerCompletions(cmd *cobra.Command) {
	for name, offer := range map[string]func(context.Context) []string{
		"output":  func(context.Context) []string { return []string{outputJSON, outputYAML, outputWide} },
		"context": func(context.Context) []string { return o.contexts() },
		"namespace": func(ctx context.Context) []string {
			return o.existing(ctx, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "")
		},
	} {
		// It fails only for a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return offer(cmd.Context()), noFiles
		})
	}
}

// existing names what the API server has. Completion has nobody to tell of an
// error: it offers nothing then.
func (o *options) existing(ctx context.Context, of schema.GroupVersionResource, namespace string) (found []string) {
	config, err := o.config.ToRESTConfig()
	if err != nil {
		return nil
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completeTimeout)
	defer cancel()
	list, err := client.Resource(of).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: pageSize})
	if err != nil {
		return nil
	}
	for _, o := range list.Items {
		found = append(found, o.GetName())
	}
	return found
}

func (o *options) contexts() (found []string) {
	config, err := o.config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil
	}
	for name := range config.Contexts {
		found = append(found, name)
	}
	slices.Sort(found)
	return found
}
