package main

import (
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/causeway-webhook/causeway/cmd/kubectl-why/text"
	"github.com/causeway-webhook/causeway/cmd/kubectl-why/tree"
)

// The values of --output.
const (
	outputWide = "wide"
	outputJSON = "json"
	outputYAML = "yaml"
)

// document is what --output json and yaml print: always a list, so that a script
// need not know how many there are.
type document struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Items      []tree.Explanation `json:"items"`
}

const documentVersion, documentKind = "why.causeway.dev/v1alpha1", "ExplanationList"

// print writes the explanations as --output says.
func (o *options) print(explanations []tree.Explanation) error {
	doc := document{documentVersion, documentKind, explanations}
	if doc.Items == nil {
		doc.Items = []tree.Explanation{}
	}
	switch o.output {
	case outputJSON:
		encoder := json.NewEncoder(o.streams.Out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "    ")
		return encoder.Encode(doc)
	case outputYAML:
		data, err := yaml.Marshal(doc)
		if err == nil {
			_, err = o.streams.Out.Write(data)
		}
		return err
	}
	if len(explanations) == 0 {
		_, err := fmt.Fprintln(o.streams.ErrOut, o.nothing())
		return err
	}
	return text.Write(o.streams.Out, explanations, o.textOptions())
}

// nothing is kubectl's wording.
func (o *options) nothing() string {
	if o.allNamespaces {
		return "No workloads found."
	}
	return fmt.Sprintf("No workloads found in %s namespace.", o.namespace)
}

// textOptions fit the text to where it goes. What is no terminal gets the width
// of the usual one: it will be read in a log, a mail or a page.
func (o *options) textOptions() text.Options {
	t := text.Options{Width: usualWidth, Wide: o.output == outputWide}
	if o.out.is() {
		_, plain := os.LookupEnv("NO_COLOR")
		t.Width, t.Colour = o.out.width, !plain && os.Getenv("TERM") != "dumb"
	}
	if t.Wide {
		t.Width = 0
	}
	return t
}
