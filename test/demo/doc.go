// Demo plays the story of Causeway on a real control plane and prints each step
// as a customer would see it: the command, then what the API server answers. It
// ends with 0 only if every step showed exactly what it should.
//
// First comes today's platform alone, with its lie; then Causeway is installed
// from deploy/ and the same scene is played again. Everything runs on the
// loopback address and ends with this program, Ctrl-C included. KEEP=1 in the
// environment leaves it running until then.
//
// story.go is the story as data: what is done and what has to be seen.
package main
