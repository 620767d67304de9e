// Command reasonsdoc writes docs/reasons.md: the table of package reason, and the
// rules of package podstate with an example of each.
//
// The examples are the first case of each rule in podstate's testdata, whose
// sentences podstate's own test compares with what the code says. It is run by
// go generate; its test fails when the file is not what it would write.
package main
