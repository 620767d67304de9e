package podstate

import (
	"strconv"
	"strings"
	"time"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// Bounds in bytes. The fixed words of any sentence take less than what the
// others leave of MaxSentence, which a test holds.
const (
	// MaxSentence is the most that the roll-up takes over from an Instance.
	MaxSentence = rollup.MaxDetail

	maxWords = 512 // quoted foreign words, quotes included
	maxName  = 80  // a container's name: the API allows 63
	maxImage = 160 // an image's name: longer ones are known by their ends
)

// Whose words a sentence quotes. Nothing follows the quote but a full stop, so
// that same can take it off again.
const (
	runtimeSays   = "The runtime says"
	nodeSays      = "The node says"
	schedulerSays = "The scheduler says"
	platformSays  = "The platform says"
	itSays        = "Its last words are"
)

var sources = []string{runtimeSays, nodeSays, schedulerSays, platformSays, itSays}

// thePod opens a sentence about the Pod as a whole: it continues "1 of 1
// instances is being moved: ".
const thePod = "its Pod"

// subject opens a sentence about a container.
func (c Container) subject() string {
	if c.Name == "" && c.Kind == "" {
		return thePod
	}
	return string(c.Kind) + " " + quoted(c.Name, maxName)
}

// sentence is the text with its subject and, unless empty, the words of source.
func sentence(c Container, text, source, words string) string {
	s := c.subject() + " " + text
	words = rollup.Clean(words, maxWords)
	if !strings.HasSuffix(words, "..") { // the sentence has a full stop of its own
		words = strings.TrimSuffix(words, ".")
	}
	if words != "" {
		s += " " + source + ": " + quoted(words, maxWords) + "."
	}
	return rollup.Clean(s, MaxSentence)
}

// quoted is foreign text as data: cleaned, quoted as in Go, and in all at most
// limit bytes. Quoting can make a text longer, so it is cut until it fits.
func quoted(text string, limit int) string {
	for n := limit - 2; ; n = n * 3 / 4 {
		if q := strconv.Quote(rollup.Clean(text, n)); len(q) <= limit {
			return q
		}
	}
}

// shortImage keeps the end of a long image name, where the tag is.
func shortImage(image string) string {
	image = strings.ToValidUTF8(image, "\uFFFD")
	if len(image) <= maxImage-2 {
		return image
	}
	at := len(image) - (maxImage - 2 - len("..."))
	for at < len(image) && image[at]&0xC0 == 0x80 { // not inside a rune
		at++
	}
	return "..." + image[at:]
}

// times is "1 time", "2 times".
func times(n int32) string { return count(int64(n), "time") }

// lasting is a duration in one unit that a person would use, rounded down.
func lasting(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than 1 second"
	case d < 2*time.Minute:
		return count(int64(d/time.Second), "second")
	case d < 2*time.Hour:
		return count(int64(d/time.Minute), "minute")
	case d < 48*time.Hour:
		return count(int64(d/time.Hour), "hour")
	default:
		return count(int64(d/(24*time.Hour)), "day")
	}
}

func count(n int64, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.FormatInt(n, 10) + " " + unit + "s"
}
