// Command bench measures what Causeway costs and writes docs/benchmarks.md.
//
// Each case is a file of its own, named for what it measures, with one function
// that returns a table. It reads the clock and a real control plane; it never
// fails because a bar is missed, only because something could not be measured.
//
//	make bench
//	go run ./bench -run 'hot|spread' -quick
package main
