package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// auditReport is what `causeway audit -o json` prints.
type auditReport struct {
	// Checked counts what was judged, by kind.
	Checked map[string]int `json:"checked"`
	// Ignored counts what lies in namespaces that are not judged.
	Ignored int `json:"ignored"`
	// Refused is sorted by namespace, class, kind and name.
	Refused []auditEntry `json:"refused"`
}

type auditEntry struct {
	Namespace string `json:"namespace"`
	// Class is the resolved one; empty where an empty one has no default.
	Class  string       `json:"class"`
	Kind   string       `json:"kind"`
	Name   string       `json:"name"`
	Causes []auditCause `json:"causes"`
}

// auditCause is what a refusal would say.
type auditCause struct {
	Rule       string `json:"rule"`
	Field      string `json:"field"`
	Container  string `json:"container,omitempty"`
	Capability string `json:"capability,omitempty"`
	Message    string `json:"message"`
}

// auditKinds is the order in which kinds are told: what a customer wrote comes first.
var auditKinds = []string{"Workload", "WorkloadDeployment", "Instance"}

func (r *auditReport) sort() {
	slices.SortFunc(r.Refused, func(a, b auditEntry) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Class, b.Class),
			cmp.Compare(slices.Index(auditKinds, a.Kind), slices.Index(auditKinds, b.Kind)), cmp.Compare(a.Name, b.Name))
	})
}

func (r *auditReport) write(out io.Writer, format string) error {
	if format == auditJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(r)
	}
	if len(r.Refused) > 0 {
		table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
		_, _ = fmt.Fprintln(table, "NAMESPACE\tCLASS\tKIND\tNAME\tWHY")
		for _, e := range r.Refused {
			for i, c := range e.Causes {
				row := []string{"", "", "", ""} // of a further cause
				if i == 0 {
					row = []string{e.Namespace, cmp.Or(e.Class, "<none>"), e.Kind, e.Name}
				}
				_, _ = fmt.Fprintln(table, strings.Join(append(row, c.Field+": "+c.Message), "\t"))
			}
		}
		if err := table.Flush(); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(out)
	}
	_, err := fmt.Fprintln(out, r.summary())
	return err
}

// summary is one line, such as
//
//	2 of 3 Workloads, 0 of 3 WorkloadDeployments and 1 of 6 Instances would be refused.
func (r *auditReport) summary() string {
	refused := map[string]int{}
	for _, e := range r.Refused {
		refused[e.Kind]++
	}
	parts := make([]string, len(auditKinds))
	for i, kind := range auditKinds {
		parts[i] = fmt.Sprintf("%d of %s", refused[kind], count(r.Checked[kind], kind))
	}
	line := parts[0] + ", " + parts[1] + " and " + parts[2] + " would be refused."
	if r.Ignored > 0 {
		line += " " + count(r.Ignored, "object") + " in namespaces that are not judged."
	}
	return line
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}
