// Package report says what was measured: tables for a terminal, and
// docs/benchmarks.md with a plot of all ratios. Everything in that file comes from
// here and from the tables, so that it is written anew and never by hand.
//
// It judges bars by package pairs and reads nothing but what it is given and, for
// Machine, what the system says of itself.
package report
