package rollup

import (
	"strconv"
	"strings"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// Sentence is what Parse reads out of a message.
type Sentence struct {
	// Default is set for the two sentences that name no failure.
	Default bool
	// Placement is the name, unquoted, in front of a deployment's base. Rest
	// is then the base's text and the counts are zero.
	Placement string
	// Quoted is set where there is such a name, even an empty one.
	Quoted bool
	// Count and Of are N and M of "N of M instances".
	Count, Of int
	// Rest is what follows the phrase and its ": " or ". ": the detail of one
	// Instance, further sentences, or both. It is empty where nothing follows.
	Rest string
	// Hint is the sentence about capabilities at the end, which is not part of
	// Rest; empty without one.
	Hint string
}

// InGrammar tells whether Causeway may have written the reason and message of
// a False condition. What it may not have written is a controller's own.
func InGrammar(r, message string) bool {
	_, ok := Parse(r, message)
	return ok
}

// Parse reads back every message that this package writes into a False
// condition with the reason, other than a base's, which is not its own:
//
//	default  = "Instances are being provisioned" | "No instances available yet"
//	quoted   = "placement " name ": " text
//	counted  = N " of " M " instances " phrase ( "." { " " further } | ": " text ) [ " " hint ]
//	further  = N " of " M " instances " phrase "." | N " more instances are not running for other reasons."
//
// The name is quoted as by strconv.Quote, the first phrase belongs to the
// reason, the text after ": " ends a sentence. A hint is what hint writes.
func Parse(r, message string) (Sentence, bool) {
	switch {
	case r == reason.InstancesProvisioning &&
		(message == reason.MessageInstancesProvisioning || message == reason.MessageNoInstances):
		return Sentence{Default: true}, true
	case strings.HasPrefix(message, `placement "`):
		return parseQuoted(message)
	default:
		return parseCounted(r, message)
	}
}

func parseQuoted(message string) (Sentence, bool) {
	rest := strings.TrimPrefix(message, "placement ")
	name, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return Sentence{}, false
	}
	text, ok := strings.CutPrefix(rest[len(name):], ": ")
	if !ok || text == "" {
		return Sentence{}, false
	}
	name, err = strconv.Unquote(name)
	return Sentence{Placement: name, Quoted: true, Rest: text}, err == nil
}

// parseCounted takes a hint for one only behind a sentence that is whole: an
// Instance's own words may look like one.
func parseCounted(r, message string) (Sentence, bool) {
	if rest, hint := cutHint(message); hint != "" {
		if s, ok := parseReasons(r, rest); ok {
			s.Hint = hint
			return s, true
		}
	}
	return parseReasons(r, message)
}

func parseReasons(r, message string) (Sentence, bool) {
	s := Sentence{}
	var ok bool
	if s.Count, s.Of, message, ok = cutCounts(message); !ok {
		return Sentence{}, false
	}
	if message, ok = cutPhrase(r, s.Count, message); !ok {
		return Sentence{}, false
	}
	if detail, found := strings.CutPrefix(message, ": "); found {
		s.Rest = detail
		return s, closed(detail)
	}
	if message, ok = strings.CutPrefix(message, "."); !ok {
		return Sentence{}, false
	}
	s.Rest = strings.TrimPrefix(message, " ")
	return s, onlyFurther(message)
}

// cutPhrase takes the phrase of the reason off. The phrase for unknown reasons
// is accepted of every reason: a release that had no words for it yet may have
// written the message.
func cutPhrase(r string, n int, message string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(message, reason.UnknownPhrase(r, n)); ok {
		return rest, true
	}
	return strings.CutPrefix(message, reason.Phrase(r, n))
}

// cutCounts takes "N of M instances " off, with N of at least 1.
func cutCounts(message string) (n, m int, rest string, ok bool) {
	if n, rest, ok = cutNumber(message); !ok || n == 0 {
		return 0, 0, "", false
	}
	if rest, ok = strings.CutPrefix(rest, " of "); !ok {
		return 0, 0, "", false
	}
	if m, rest, ok = cutNumber(rest); !ok {
		return 0, 0, "", false
	}
	rest, ok = strings.CutPrefix(rest, " instances ")
	return n, m, rest, ok
}

// cutNumber takes a number off, written as strconv.Itoa writes it.
func cutNumber(s string) (n int, rest string, ok bool) {
	end := 0
	for end < len(s) && '0' <= s[end] && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil || strconv.Itoa(n) != s[:end] {
		return 0, "", false
	}
	return n, s[end:], true
}
