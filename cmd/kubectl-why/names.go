package main

import (
	"fmt"
	"slices"
	"strings"
)

// kinds are the words by which Workloads are named, as kubectl takes them.
var kinds = []string{"workload", "workloads", "workload." + group, "workloads." + group,
	"workload." + version1 + "." + group, "workloads." + version1 + "." + group}

// names reads the arguments as kubectl does: NAME..., KIND/NAME..., KIND
// NAME..., or KIND alone for all there are.
func names(args []string) ([]string, error) {
	if len(args) > 0 && slices.Contains(kinds, strings.ToLower(args[0])) {
		for _, name := range args[1:] {
			if strings.Contains(name, "/") {
				return nil, fmt.Errorf("%q: there is no need to give the kind twice", args[0]+" "+name)
			}
		}
		return args[1:], nil
	}
	var found []string
	for _, arg := range args {
		kind, name, qualified := strings.Cut(arg, "/")
		switch {
		case !qualified:
			name = arg
		case !slices.Contains(kinds, strings.ToLower(kind)):
			return nil, fmt.Errorf("%q: workloads are explained, and nothing of kind %q; to see all of a workload, give its name", arg, kind)
		}
		if name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("%q is not the name of a workload", arg)
		}
		if !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found, nil
}
