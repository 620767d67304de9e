// Package certs holds the certificate that Causeway's servers show to the API server.
//
// It decides which certificate is served and whether that one is any good: a Source yields it handshake by handshake, so
// a renewed certificate is used at once and no connection is lost for it; Check says in words what is wrong with one.
//
// It reads the two files tls.crt and tls.key of one folder, as kubelet mounts a Secret of type kubernetes.io/tls. It
// writes nothing, never logs key material, and knows neither flags nor webhooks.
//
// Whoever serves depends on Source alone; another way to come by a certificate is another Source.
package certs
