package rollup

import (
	"strings"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// onlyFurther tells whether a text is nothing but further sentences, each
// after a space. They name no reason, so any phrase will do; and any number of
// them, since another release may have had another bound.
func onlyFurther(text string) bool {
	for text != "" && !isTail(text) {
		n, _, rest, ok := cutCounts(strings.TrimPrefix(text, " "))
		if !ok || text[0] != ' ' {
			return false
		}
		if text, ok = cutAnyPhrase(n, rest); !ok {
			return false
		}
	}
	return true
}

// isTail tells whether the text is the sentence that counts what is left.
func isTail(text string) bool {
	n, _, ok := cutNumber(strings.TrimPrefix(text, " "))
	return ok && n > 0 && text == " "+tail(n)
}

// cutAnyPhrase takes a phrase and its stop off. No phrase contains a stop, so
// the first one ends it.
func cutAnyPhrase(n int, text string) (rest string, ok bool) {
	phrase, rest, ok := strings.Cut(text, ".")
	return rest, ok && reason.IsPhrase(phrase, n)
}
