package webhook

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rule identifies a rule in metrics, logs and the audit.
type Rule string

// The rules, each in the file that its name says (rule_*.go).
const (
	RuleClass    Rule = "class"
	RuleAll      Rule = "all"
	RuleSpelling Rule = "spelling"
	RuleFeature  Rule = "feature"
	RuleGrant    Rule = "grant"
)

// Rules lists every rule.
var Rules = []Rule{RuleClass, RuleAll, RuleSpelling, RuleFeature, RuleGrant}

// Case is what Validate judges. A stored object is judged with neither Stored
// nor Owner: as if it were submitted today.
type Case struct {
	// Runtime is the runtime as it would be stored.
	Runtime *Runtime
	// Stored is the runtime as it is stored now; nil on CREATE.
	Stored *Runtime
	// Owner is the runtime of the object's owner; nil where there is none.
	Owner *Runtime
	// Classes are the RuntimeClasses there are.
	Classes *Classes
	// Path leads to Runtime: spec.runtime, or spec.template.spec.runtime.
	Path *field.Path
}

// Finding is one cause of a refusal.
type Finding struct {
	Rule Rule
	// Class is the resolved class; empty where an empty one has no default.
	Class string
	// Container and Capability, both as written, are empty for RuleClass;
	// RuleFeature leaves Capability empty.
	Container  string
	Capability string
	// Err holds path and text as the author reads them.
	Err *field.Error
}

// Verdict is what Validate found.
type Verdict struct {
	// Refused is empty for an object that is accepted. It is in the order of the
	// paths: the class, then containers and their entries as they stand.
	Refused []Finding
	// Warnings holds, for an accepted object, one sentence for each container
	// that keeps what would be refused if it were added now.
	Warnings []string
	// Kept counts the capabilities that those containers keep of the class that
	// Class names, resolved like that of a Finding.
	Kept  int
	Class string
}

// maxCauses bounds the causes of one answer. Far more than an author can read,
// it is there for objects that are made to be refused: the text of a status
// grows with the square of its causes.
const maxCauses = 100

// Errors returns the causes of a refusal for an API status; beyond maxCauses the
// last one counts the rest.
func (v Verdict) Errors() field.ErrorList {
	var out field.ErrorList
	for i, f := range v.Refused {
		if i == maxCauses {
			return append(out, &field.Error{
				Type: field.ErrorTypeForbidden, Field: f.Err.Field, Detail: fmt.Sprintf("... and %d more", len(v.Refused)-i),
			})
		}
		out = append(out, f.Err)
	}
	return out
}

// Validate judges what the containers of one object add. It is pure: the same
// case always gives the same verdict.
func Validate(c Case) Verdict {
	if !c.Runtime.addsAny() {
		return Verdict{}
	}
	j := newJudge(&c)
	for i := range c.Runtime.containers() {
		j.container(i)
	}
	if !j.refuses() {
		return Verdict{Warnings: j.warnings, Kept: j.kept, Class: j.name}
	}
	return Verdict{Refused: j.findings()}
}
