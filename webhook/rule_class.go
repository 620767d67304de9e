package webhook

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rule class: an object that adds capabilities must have a class that exists,
// by name or by being the only one marked default. Said once an object, at
// ...runtime.class; the rules that need the class are then not asked.
//
//	runtime class "x" does not exist; there are "a", "b"
//	no runtime class is the default; choose one of "a", "b"
//	"a" and "b" are both the default; choose one
func refuseClass(classes *Classes, name, path string) *field.Error {
	switch {
	case name != "":
		return &field.Error{
			Type:     field.ErrorTypeNotSupported,
			Field:    path,
			BadValue: clip(name, maxQuoted),
			Detail:   fmt.Sprintf("runtime class %s does not exist; %s", quote(name), there(quotedAll(classes.names()))),
		}
	case len(classes.defaults) == 0:
		return required(path, "no runtime class is the default; "+choose(quotedAll(classes.names())))
	default:
		return required(path, all(quotedAll(classes.defaults))+" the default; choose one")
	}
}

func there(quoted []string) string {
	switch len(quoted) {
	case 0:
		return "there are none"
	case 1:
		return "there is only " + quoted[0]
	default:
		return "there are " + listed(quoted)
	}
}

func choose(quoted []string) string {
	switch len(quoted) {
	case 0:
		return "there are none to choose from"
	case 1:
		return "choose " + quoted[0]
	default:
		return "choose one of " + listed(quoted)
	}
}

// all joins two or more names into the subject of a sentence, with its verb.
func all(quoted []string) string {
	if len(quoted) == 2 {
		return strings.Join(quoted, " and ") + " are both"
	}
	return listed(quoted) + " are all"
}
