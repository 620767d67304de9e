// Package environment puts the whole together for the end-to-end tests and the
// demo: a control plane, the CRDs, what deploy/ renders, the stand-in platform
// and the built causeway binary, run as its service account.
//
// It holds no manifest of its own. What a test leaves out (a webhook
// configuration, the overlay, the loop) it leaves out by name, so that what is
// left is what operators install.
package environment
