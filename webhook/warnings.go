package webhook

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The API server cuts warnings over 256 characters once all warnings of one
// answer exceed 4096 together, so these bounds keep every sentence whole
// (k8s.io/apiserver/pkg/endpoints/filters/warning.go).
const (
	maxWarning  = 256
	maxWarnings = 4096
)

// keepWarnings says, for one container, what it keeps and why that is the last
// time: a sentence for each reason.
func keepWarnings(container string, c *class, kept map[reason][]string) []string {
	var out []string
	say := func(verb, consequence string, names []string) {
		if len(names) == 0 {
			return
		}
		but := "though its runtime class cannot be told"
		if c != nil {
			but = fmt.Sprintf("which runtime class %s does not grant", quote(c.name))
		}
		out = append(out, clip(fmt.Sprintf("container %s %s %s, %s; %s",
			quote(container), verb, listed(bareAll(names)), but, consequence), maxWarning))
	}
	say("keeps", "what is removed cannot be added again", kept[keptStored])
	say("adds", "accepted because its owner adds it", kept[keptOwner])
	return out
}

// StripWarnings says, for each container that states what it adds, which
// defaults of its class it thereby loses: a class adds its defaults only to
// containers that state nothing. A default that the container drops by name is
// not missed.
func StripWarnings(r *Runtime, classes *Classes) []string {
	c := classes.find(classes.resolve(r.Class))
	if c == nil {
		return nil
	}
	var out []string
	for _, ctr := range r.containers() {
		if len(ctr.adds()) == 0 {
			continue
		}
		var lost []string
		for _, name := range c.defaultAdds {
			if !slices.Contains(ctr.adds(), name) && !ctr.drops(name) {
				lost = append(lost, bare(name))
			}
		}
		if len(lost) > 0 {
			out = append(out, fit(fmt.Sprintf("container %s loses defaults of runtime class %s that its add does not restate: ",
				quote(ctr.Name), quote(c.name)), lost))
		}
	}
	return out
}

// fit appends as many names to a sentence as a warning holds, and counts the
// rest.
func fit(sentence string, names []string) string {
	for n := len(names); n > 0; n-- {
		text := sentence + strings.Join(names[:n], ", ")
		if n < len(names) {
			text += fmt.Sprintf(", ... and %d more", len(names)-n)
		}
		if utf8.RuneCountInString(text) <= maxWarning {
			return text
		}
	}
	return clip(sentence+strings.Join(names, ", "), maxWarning)
}

// bounded returns the warnings within the API server's limits: one line each,
// cut where it is too long, and the last one a count of those that are too many.
func bounded(warnings []string) []string {
	// The count itself needs room: "... and 1000000 more warnings".
	const room = 40
	var out []string
	total := 0
	for i, w := range warnings {
		w = clip(oneLine(w), maxWarning)
		total += utf8.RuneCountInString(w)
		if total > maxWarnings-room {
			return append(out, fmt.Sprintf("... and %d more warnings", len(warnings)-i))
		}
		out = append(out, w)
	}
	return out
}

// oneLine replaces what a warning header cannot carry.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
