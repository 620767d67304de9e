package main

import (
	"context"
	"fmt"
	"regexp"

	"github.com/causeway-webhook/causeway/test/bench/report"
)

// aCase is one thing that is measured.
type aCase struct {
	// name is what -run matches.
	name    string
	measure func(context.Context, *env) (report.Table, error)
}

// cases are in the order of docs/benchmarks.md. Those that share control planes
// stand together, since the first that needs others ends them.
func cases() []aCase {
	return []aCase{
		{"status-unchanged", statusUnchanged},
		{"hot-parent", hotParent},
		{"spread", spread},
		{"one-writer", oneWriter},
		{"workload-create", workloadCreate},
		{"refused-http", refusedHTTP},
		{"few-seats", fewSeats},
		{"ledger", ledgerCost},
		{"beside-platform", besidePlatform},
		{"truth", truth},
		{"memory", memory},
	}
}

// chosen are the cases whose name matches.
func chosen(pattern string) ([]aCase, error) {
	names, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	var found []aCase
	for _, c := range cases() {
		if names.MatchString(c.name) {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("-run %s matches no case", pattern)
	}
	return found, nil
}
