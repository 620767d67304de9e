// Package install puts rendered manifests into an API server that has no
// cluster around it, and takes them out again.
//
// Everything that a kustomization renders is installed: what needs a kubelet, a
// Deployment say, is only stored. One thing is changed, as envtest does: a
// webhook that names a Service is pointed at a loopback URL and given the CA of
// whoever serves there, since no Service has an address here.
package install
