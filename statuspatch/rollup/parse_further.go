package rollup

import (
	"strings"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// onlyFurther tells whether a text is nothing but further sentences, each
// after a space. They name no reason, so any phrase will do.
func onlyFurther(text string) bool {
	for range maxFurther + 1 {
		if text == "" {
			return true
		}
		var ok bool
		if text, ok = strings.CutPrefix(text, " "); !ok {
			return false
		}
		if isTail(text) {
			return true
		}
		n, _, rest, ok := cutCounts(text)
		if !ok {
			return false
		}
		if text, ok = cutAnyPhrase(n, rest); !ok {
			return false
		}
	}
	return text == ""
}

// isTail tells whether the text is the sentence that counts what is left.
func isTail(text string) bool {
	n, rest, ok := cutNumber(text)
	switch {
	case !ok || n == 0:
		return false
	case n == 1:
		return rest == " more instance is not running for other reasons."
	default:
		return rest == " more instances are not running for other reasons."
	}
}

// cutAnyPhrase takes a phrase and its stop off. No phrase contains a stop, so
// the first one ends it.
func cutAnyPhrase(n int, text string) (rest string, ok bool) {
	phrase, rest, ok := strings.Cut(text, ".")
	return rest, ok && reason.IsPhrase(phrase, n)
}
