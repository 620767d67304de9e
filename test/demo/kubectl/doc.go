// Package kubectl does what a few kubectl commands do, through the API, and
// answers with the text that kubectl would print: what the server says, its own
// table for "get", its warnings, and its errors in kubectl's form.
//
// The demo uses it so that it needs no kubectl. It knows the commands that the
// demo plays and the compute API's kinds, and nothing else.
package kubectl
