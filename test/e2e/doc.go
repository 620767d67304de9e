// Package e2e proves Causeway on a real API server beside the stand-in platform.
// Its tests run the built binary, under its service account and the RBAC that
// deploy/ grants it, and write as ordinary users. Each test starts a control
// plane of its own, which takes some seconds, so that none can lean on another.
//
// A test that is about one of the three ways (request, overlay, loop) leaves the
// other two out, so that it proves the way it names.
package e2e
