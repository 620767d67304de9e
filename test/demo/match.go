package main

import (
	"regexp"
	"strings"
)

// What nobody can know beforehand stands in an expectation by its name.
var unknowns = map[string]string{
	"<age>":  `[0-9]+[smhd][0-9smhd]*`,
	"<hash>": `[0-9a-f]{10}`, // of the Workload's UID, in names
	"<n>":    `[0-9]+`,
	"<time>": `[0-9.]+ m?s`,
}

var (
	unknown = regexp.MustCompile(`<[a-z]+>`)
	// Columns are as wide as what stands in them.
	gap = regexp.MustCompile(`  +`)
)

// matches tells whether the text seen is the whole text wanted: line for line,
// apart from unknowns and from how far columns stand apart.
func matches(want, seen string) bool {
	return regexp.MustCompile(`\A` + pattern(plain(want)) + `\z`).MatchString(plain(seen))
}

func pattern(want string) string {
	var b strings.Builder
	for {
		at := unknown.FindStringIndex(want)
		if at == nil {
			return b.String() + regexp.QuoteMeta(want)
		}
		name := want[at[0]:at[1]]
		b.WriteString(regexp.QuoteMeta(want[:at[0]]))
		if p, ok := unknowns[name]; ok {
			b.WriteString(p)
		} else {
			b.WriteString(regexp.QuoteMeta(name))
		}
		want = want[at[1]:]
	}
}

// plain is a text without what depends on the width of columns.
func plain(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = gap.ReplaceAllString(strings.TrimRight(line, " "), "  ")
	}
	return strings.Join(lines, "\n")
}
