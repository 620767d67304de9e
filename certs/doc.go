// Package certs holds the certificate that Causeway's servers show to the API server, and says whom they listen to.
//
// It decides which certificate is served and whether that one is any good. A Source yields it handshake by handshake, so
// a renewed certificate is used at once and no connection is lost for it; Check says in words what is wrong with one. A
// new certificate is served only once the webhook configurations that name this process verify it (choice.go): until
// then the old one is what the API server trusts.
//
// There are two sources. Files reads tls.crt and tls.key of one folder, as kubelet mounts the Secret that cert-manager
// keeps. SelfManaged needs nobody else: it issues an authority and a certificate into one Secret, renews both, and puts
// the authority into the configurations. Where a certificate comes from is plan.go, as pure functions; what is read and
// written, and when, is selfmanaged.go.
//
// It reads webhook configurations by name; SelfManaged patches their caBundle and writes one Secret, and nothing else is
// ever written. Key material is never logged. It knows neither flags nor reviews.
//
// Whoever serves depends on Source alone; another way to come by a certificate is another Source.
package certs
