package certs

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"fmt"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// Keys of the Secret of SelfManaged, besides tls.crt and tls.key.
const (
	authorityCertFile = "ca.crt"
	authorityKeyFile  = "ca.key"
)

// holding is what the Secret holds.
type holding struct {
	// authorities that clients are to trust, the newest first, which is the one that signs.
	authorities []*x509.Certificate
	// key of the newest authority.
	key crypto.Signer
	// serving is the certificate that is shown; nil if there is none that can be read.
	serving *tls.Certificate
}

// parseHolding reads what can be read. What cannot is as good as missing, and will be issued anew.
func parseHolding(data map[string][]byte) holding {
	var h holding
	h.authorities = parseBundle(data[authorityCertFile])
	if key, err := keyutil.ParsePrivateKeyPEM(data[authorityKeyFile]); err == nil {
		h.key, _ = key.(crypto.Signer)
	}
	if cert, err := tls.X509KeyPair(data[CertFile], data[KeyFile]); err == nil {
		h.serving = &cert
	}
	return h
}

// data is the inverse of parseHolding, for a holding in which nothing is missing.
func (h holding) data() (map[string][]byte, error) {
	authorities, err := certutil.EncodeCertificates(h.authorities...)
	if err != nil {
		return nil, fmt.Errorf("encoding the authorities: %w", err)
	}
	serving, err := certutil.EncodeCertificates(h.serving.Leaf)
	if err != nil {
		return nil, fmt.Errorf("encoding the serving certificate: %w", err)
	}
	authorityKey, err := keyutil.MarshalPrivateKeyToPEM(h.key)
	if err != nil {
		return nil, fmt.Errorf("encoding the authority's key: %w", err)
	}
	servingKey, err := keyutil.MarshalPrivateKeyToPEM(h.serving.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("encoding the serving key: %w", err)
	}
	return map[string][]byte{
		authorityCertFile: authorities,
		authorityKeyFile:  authorityKey,
		CertFile:          serving,
		KeyFile:           servingKey,
	}, nil
}

// trustedBy tells whether all callers trust the newest authority.
func (h holding) trustedBy(callers []Caller) bool {
	if len(h.authorities) == 0 {
		return false
	}
	for _, c := range callers {
		if !containsCert(parseBundle(c.Bundle), h.authorities[0]) {
			return false
		}
	}
	return true
}
