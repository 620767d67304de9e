package main

import (
	"fmt"
	"io"
	"time"
)

// env is what cases get.
type env struct {
	// binary is causeway, built without the race detector.
	binary string
	// pairs is how many pairs a series has.
	pairs int
	// quick asks a case to be as short as it can be and still do everything: for
	// development, its numbers mean nothing.
	quick bool
	// profiles is the folder for profiles; none are written if empty.
	profiles string
	// dir is a folder for what a case has to write.
	dir string
	// out takes progress, a line at a time.
	out   io.Writer
	began time.Time

	shared *planes
}

// say tells what is going on.
func (e *env) say(format string, args ...any) {
	_, _ = fmt.Fprintf(e.out, "%6s  %s\n", time.Since(e.began).Round(time.Second), fmt.Sprintf(format, args...))
}

// short is full, or quick where the run is quick.
func short[T any](e *env, full, quick T) T {
	if e.quick {
		return quick
	}
	return full
}

// close ends what cases share.
func (e *env) close() error {
	if e.shared == nil {
		return nil
	}
	p := e.shared
	e.shared = nil
	return p.stop()
}
