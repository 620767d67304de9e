// Package krew writes the manifest by which krew, kubectl's plugin manager,
// installs kubectl-why from the archives of a release.
//
// It reads those archives and writes nothing else. Krew's own types are not
// used: its module asks for a client-go of long ago.
package krew
