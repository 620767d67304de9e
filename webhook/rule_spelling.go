package webhook

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rule spelling: a capability is written by its exact name. Runtimes disagree
// on what CAP_CHOWN or chown means (one grants it, one silently ignores it), so
// what is written so may run in one place and fail in another. Said once an
// entry, at ...add[i], of a capability that its class grants (or whose class is
// not known): for one that it does not grant, the exact name would be refused
// next. Of an entry that is nothing but the prefix no name is left to write.
func refuseSpelling(written, path string) *field.Error {
	if Canonical(written) == "" {
		return misspelt(path, clip(written, maxQuoted), `that names no capability; write one, such as "NET_BIND_SERVICE", without the CAP_ prefix`)
	}
	how := "in capitals and without spaces"
	if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(written)), capPrefix) {
		how = "without the CAP_ prefix"
	}
	return misspelt(path, clip(written, maxQuoted), fmt.Sprintf("write %s, %s", quote(Canonical(written)), how))
}
