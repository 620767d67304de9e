package main

import (
	"fmt"
	"io"
)

// progress shows on a terminal how far a long listing is. A list of one page
// shows none.
type progress struct {
	out   io.Writer
	on    bool
	shown bool
}

// clearLine goes back to the begin of the line and empties it.
const clearLine = "\r\x1b[K"

// read tells that so many objects have come, and how many are left, if the
// server says so.
func (p *progress) read(what string, count int, left *int64) {
	if !p.on {
		return
	}
	text := fmt.Sprintf("Reading %s: %d", what, count)
	if left != nil {
		text += fmt.Sprintf(" of %d", int64(count)+*left)
	}
	p.shown = true
	_, _ = io.WriteString(p.out, clearLine+text+"...")
}

// done takes what was shown away.
func (p *progress) done() {
	if p.shown {
		p.shown = false
		_, _ = io.WriteString(p.out, clearLine)
	}
}
