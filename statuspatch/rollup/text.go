package rollup

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxDetail bounds the text of one Instance, in bytes.
	MaxDetail = 1024
	// MaxBase bounds the text of a deployment's base where a Workload quotes
	// it, in bytes. Five of them still fit into MaxMessage.
	MaxBase = 4096
	// MaxMessage is the most bytes that the API allows in a condition's message.
	MaxMessage = 32768
	// maxName bounds a placement's name within a sentence, in bytes before
	// quoting. The API bounds names at 253 too, but not this one by schema.
	maxName = 253

	// NoOrdinal is the Ordinal of an Instance without a usable index label. It
	// sorts after every other.
	NoOrdinal = math.MaxInt

	ellipsis = "..."
)

// Clean makes a foreign text fit to stand inside a sentence: valid UTF-8, each
// run of spaces, line breaks and control characters one space and none at the
// ends, at most limit bytes, cut on a rune and marked by "...".
func Clean(s string, limit int) string {
	if isClean(s, limit) {
		return s
	}
	var b strings.Builder
	gap := false
	for _, r := range s { // an invalid byte ranges as U+FFFD
		if isGap(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
		if b.Len() > limit {
			return cut(b.String(), limit)
		}
	}
	return b.String()
}

// isClean spares the copy: most texts are plain.
func isClean(s string, limit int) bool {
	if len(s) > limit {
		return false
	}
	afterSpace := true
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' && afterSpace, c < ' ', c >= 0x7f:
			return false
		default:
			afterSpace = c == ' '
		}
	}
	return s == "" || !afterSpace
}

// isGap also takes the marks that reverse the direction of writing: they would
// garble the sentence around them.
func isGap(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// cut shortens a valid text to at most limit bytes, on a rune and with a mark.
// limit is at least len(ellipsis).
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit - len(ellipsis)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.TrimRight(s[:end], " ") + ellipsis
}

// bounded is a message as it stands, unless the API would refuse it.
func bounded(s string) string { return cut(strings.ToValidUTF8(s, "\uFFFD"), MaxMessage) }

// quoted is a placement's name as sentences show it.
func quoted(name string) string {
	return strconv.Quote(cut(strings.ToValidUTF8(name, "\uFFFD"), maxName))
}

// stopped closes a sentence that is not closed yet.
func stopped(s string) string {
	if closed(s) {
		return s
	}
	return s + "."
}

func closed(s string) bool {
	return s != "" && strings.IndexByte(".!?", s[len(s)-1]) >= 0
}

// open takes the closing stop of a clean text off, so that more can follow. The
// mark of a cut stays.
func open(s string) string {
	if strings.HasSuffix(s, ellipsis) {
		return s
	}
	return strings.TrimRight(strings.TrimSuffix(s, "."), " ")
}
