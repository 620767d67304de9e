package docs

import (
	"fmt"
	"strings"
)

// block is one block of commands.
type block struct {
	// line is where it begins, counted from 1.
	line     int
	commands string
	// notRun is why it is not run; empty for one that is.
	notRun string
}

const (
	notRunBegins = "<!-- not run: "
	notRunEnds   = " -->"
)

// blocks are the blocks of commands of a page. A comment that explains nothing,
// or stands above nothing, is an error: it would hide a block some day.
func blocks(page string) (found []block, err error) {
	const text, commands, other = 0, 1, 2
	state, why, whyLine := text, "", 0
	var b block
	for i, line := range strings.Split(page, "\n") {
		fence := strings.TrimSpace(line)
		switch {
		case state == text && fence == "```sh":
			state, b = commands, block{line: i + 1, notRun: why}
			why = ""
		case state == text && strings.HasPrefix(fence, "```"):
			state = other
		case state == commands && fence == "```":
			found, state = append(found, b), text
		case state == other && fence == "```":
			state = text
		case state == commands:
			b.commands += line + "\n"
		case state == text && strings.HasPrefix(fence, strings.TrimSpace(notRunBegins)):
			reason, ok := strings.CutPrefix(fence, notRunBegins)
			reason, ends := strings.CutSuffix(reason, notRunEnds)
			if !ok || !ends || strings.TrimSpace(reason) == "" {
				return nil, fmt.Errorf("line %d: say why in one line: %swhy%s", i+1, notRunBegins, notRunEnds)
			}
			why, whyLine = reason, i+1
			continue
		}
		if why != "" {
			return nil, fmt.Errorf("line %d: no block of commands stands right below this", whyLine)
		}
	}
	if state != text {
		return nil, fmt.Errorf("line %d: this block does not end", b.line)
	}
	return found, nil
}
