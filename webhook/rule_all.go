package webhook

import "k8s.io/apimachinery/pkg/util/validation/field"

// Rule all: ALL may not be added, in any case or spelling, by any class. It is
// no capability but whatever the kernel of the day knows, so no class can grant
// it, and runtimes match it in any case. Said once an entry, at ...add[i].
func refuseAll(path string) *field.Error {
	return forbidden(path, "ALL may not be added; list each capability")
}
