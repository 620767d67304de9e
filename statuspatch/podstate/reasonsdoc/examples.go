package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// example is a case of podstate's test that a rule decides.
type example struct {
	situation string
	sentence  string
}

// examples are the first case of each rule, by its ID. Files are read in the
// order of their names, so the order does not depend on the system.
func examples(folder string) (map[string]example, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	found := map[string]example{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var cases []struct {
			Case string `json:"case"`
			Want string `json:"want"`
		}
		if err := yaml.Unmarshal(text, &cases); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		for _, c := range cases {
			first, sentence, _ := strings.Cut(c.Want, "\n") // "failing crash InstanceCrashing retrying"
			words := strings.Fields(first)
			if len(words) < 2 {
				return nil, fmt.Errorf("reading %s: case %q wants no rule", file, c.Case)
			}
			if _, ok := found[words[1]]; !ok {
				found[words[1]] = example{c.Case, strings.TrimSpace(sentence)}
			}
		}
	}
	return found, nil
}
