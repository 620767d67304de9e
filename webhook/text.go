package webhook

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// maxNames is how many names a message lists before it counts the rest.
	maxNames = 10
	// maxQuoted bounds, in characters, a name that is repeated to its author.
	// The CRD allows 64 for a capability and 253 for a class; what is longer
	// did not come through the CRD.
	maxQuoted = 253
)

// listed joins names with commas; beyond maxNames it counts: `... and 31 more`.
// It is empty for no names.
func listed(names []string) string {
	if len(names) > maxNames {
		return fmt.Sprintf("%s, ... and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
	}
	return strings.Join(names, ", ")
}

// quote puts a name of a user's making in double quotes, with everything that
// could break a line or a terminal escaped.
func quote(name string) string { return strconv.Quote(clip(name, maxQuoted)) }

func quotedAll(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quote(n)
	}
	return out
}

// bare returns a capability as written if that is harmless, else quoted.
func bare(name string) string {
	if name == "" || len(name) > maxQuoted || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
		return quote(name)
	}
	return name
}

func bareAll(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = bare(n)
	}
	return out
}

// clip cuts s to limit characters, the last three of them dots where it cuts.
func clip(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	return string(runes[:limit-3]) + "..."
}

// The causes of refusals, as package field makes them of a path.
func forbidden(path, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeForbidden, Field: path, BadValue: "", Detail: detail}
}

func required(path, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeRequired, Field: path, BadValue: "", Detail: detail}
}

func misspelt(path, written, detail string) *field.Error {
	return &field.Error{Type: field.ErrorTypeInvalid, Field: path, BadValue: written, Detail: detail}
}
