package rollup

import (
	"strconv"
	"strings"
)

// cutHint takes the hint about capabilities off the end of a message: the
// longest one, where an Instance's own words pass for the beginning of it.
func cutHint(message string) (rest, hint string) {
	if !strings.HasSuffix(message, " "+hintEnd) {
		return message, ""
	}
	for at := 0; ; at++ {
		next := strings.Index(message[at:], " Container")
		if next < 0 {
			return message, ""
		}
		at += next
		if isHint(message[at+1:]) {
			return message[:at], message[at+1:]
		}
	}
}

// isHint tells whether the text is a hint and nothing else: any number of lines,
// since another release may have had another bound.
func isHint(text string) bool {
	for lines := 0; ; lines++ {
		if text == hintEnd {
			return lines > 0
		}
		var ok bool
		if text, ok = cutHintLine(text); !ok {
			return false
		}
	}
}

func cutHintLine(text string) (rest string, ok bool) {
	if text, ok = cutHintSubject(text); !ok {
		return "", false
	}
	if text, ok = cutQuoted(text); !ok {
		return "", false
	}
	if text, ok = strings.CutPrefix(text, hintGrants); !ok {
		return "", false
	}
	names, rest, ok := strings.Cut(text, ". ")
	if before, more, counted := strings.Cut(names, " and "); counted {
		if !isMore(more) {
			return "", false
		}
		names = before
	}
	for _, name := range strings.Split(names, capabilitySeparator) {
		ok = ok && isCapability(name)
	}
	return rest, ok
}

// cutHintSubject takes off what hintSubject writes.
func cutHintSubject(text string) (rest string, ok bool) {
	if one, single := strings.CutPrefix(text, "Container "); single {
		if one, ok = cutQuoted(one); !ok {
			return "", false
		}
		return strings.CutPrefix(one, hintRuns(1))
	}
	if text, ok = strings.CutPrefix(text, "Containers "); !ok {
		return "", false
	}
	for {
		if text, ok = cutQuoted(text); !ok {
			return "", false
		}
		if next, again := strings.CutPrefix(text, ", "); again {
			text = next
			continue
		}
		if text, ok = strings.CutPrefix(text, " and "); !ok {
			return "", false
		}
		break
	}
	if last, named := cutQuoted(text); named {
		return strings.CutPrefix(last, hintRuns(2))
	}
	more, rest, ok := strings.Cut(text, hintRuns(2))
	return rest, ok && isMore(more)
}

func cutQuoted(text string) (rest string, ok bool) {
	name, err := strconv.QuotedPrefix(text)
	if err != nil || name[0] != '"' {
		return "", false
	}
	return text[len(name):], true
}

// isMore tells "3 more".
func isMore(text string) bool {
	n, rest, ok := cutNumber(text)
	return ok && n > 0 && rest == " more"
}
