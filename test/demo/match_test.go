package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMatches(t *testing.T) {
	for name, tc := range map[string]struct {
		want, seen string
		wantMatch  bool
	}{
		"the same text":                           {"a b", "a b\n", true},
		"nothing":                                 {"", "", true},
		"something in place of nothing":           {"", "Warning: x\n", false},
		"nothing in place of something":           {"x", "", false},
		"a longer text":                           {"a", "a b", false},
		"a text with something before":            {"b", "a b", false},
		"another line":                            {"a", "a\nb", false},
		"lines in another order":                  {"a\nb", "b\na", false},
		"columns further apart":                   {"NAME   AGE\na   1s", "NAME         AGE   \na            1s", true},
		"one space in place of a gap":             {"a   b", "a b", false},
		"a gap in place of one space":             {"a b", "a   b", false},
		"a missing cell":                          {"a   b   c", "a       c", false},
		"an age":                                  {"<age>", "2m3s", true},
		"no age":                                  {"<age>", "<unknown>", false},
		"a hash":                                  {"api-<hash>-0", "api-0123456789-0", true},
		"half a hash":                             {"api-<hash>-0", "api-01234-0", false},
		"a number":                                {"<n>/3", "12/3", true},
		"a time":                                  {"true <time> after", "true 3.2 s after", true},
		"a word in brackets that nobody knows":    {"<none>", "<none>", true},
		"what would mean something in a pattern":  {"a.b (c) [0]", "a.b (c) [0]", true},
		"what would match if it were a pattern":   {"a.b", "axb", false},
		"an unknown does not reach over its line": {"<n>\nb", "1\n2\nb", false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.wantMatch, matches(tc.want, tc.seen), "matches(%q, %q)", tc.want, tc.seen)
		})
	}
}
