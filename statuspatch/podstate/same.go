package podstate

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Same tells whether a stored sentence still says what a fresh one says, so
// that it need not be written again. A container that crashes restarts for
// ever, every five minutes in the end; each time its count grows, its last run
// has another length, and its last words another time of day in them. So:
//
//   - What happened, to which container, with what exit code or cause and what
//     limit: a change of these is always written.
//   - A count is written when it passes 1, 2, 3, 5, 10, 20, 50, 100, 200 and so
//     on, or falls. With the first, that is 11 writes for the
//     first 500 restarts, some 40 hours of crashing.
//   - How long the last run was, and whether the count is of all restarts or of
//     those since the container last stayed up (which memory is lost with the
//     process), is no reason to write.
//   - Other quoted words are written at the next restart, and above a count of
//     10 when it has grown by a tenth. Words that have a digit in them are not
//     compared at all, they are times, addresses and numbers; and no words are
//     not other words.
func Same(stored, fresh string) bool {
	if stored == fresh {
		return true
	}
	a, b := takeApart(stored), takeApart(fresh)
	switch {
	case a.gist != b.gist, b.count < a.count, passesMark(a.count, b.count):
		return false
	case b.words == "", skeleton(a.words) == skeleton(b.words):
		return true
	case a.words == "", b.count == 0:
		return false
	default:
		return b.count < a.count+max(1, a.count/10)
	}
}

// parts are what is compared of a sentence.
type parts struct {
	gist  string
	count int
	words string
}

var (
	// counted matches opening with a count, and exitOpening.
	counted = regexp.MustCompile(`has (?:exited and restarted|restarted|failed and restarted) (\d{1,10}) times?` +
		`(?: without staying up for 5 minutes|; its last run lasted [a-z0-9 ]+)?\.(?: Its last exit was| It exited)?`)
	// single matches opening without one.
	single = regexp.MustCompile(`ended after [a-z0-9 ]+ and is `)
)

func takeApart(s string) parts {
	p := parts{gist: s}
	for _, source := range sources {
		if before, words, ok := strings.Cut(s, " "+source+`: "`); ok {
			p.gist, p.words = before, words
			break
		}
	}
	if m := counted.FindStringSubmatchIndex(p.gist); m != nil {
		p.count, _ = strconv.Atoi(p.gist[m[2]:m[3]])
		p.gist = p.gist[:m[0]] + "has crashed." + p.gist[m[1]:]
	}
	if m := single.FindStringIndex(p.gist); m != nil {
		p.gist = p.gist[:m[0]] + "ended and is " + p.gist[m[1]:]
	}
	return p
}

// passesMark tells whether a round number, or 3, is in (from, to].
func passesMark(from, to int) bool {
	if from < 3 && 3 <= to {
		return true
	}
	for ten := 1; ten <= to; ten *= 10 {
		for _, mark := range []int{ten, 2 * ten, 5 * ten} {
			if from < mark && mark <= to {
				return true
			}
		}
	}
	return false
}

// skeleton is a text without the words that have a digit in them.
func skeleton(s string) string {
	var kept []string
	for _, word := range strings.Fields(s) {
		if !strings.ContainsFunc(word, unicode.IsDigit) {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}
