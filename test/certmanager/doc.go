// Package certmanager runs cert-manager's own controllers in process, against a
// real API server, and so proves deploy/components/cert-manager: that the
// certificate is issued, reaches the processes as a kubelet would place it, and
// is renewed under traffic.
//
// It is a module of its own: cert-manager brings the clients of many clouds,
// which nothing else here needs.
package certmanager
