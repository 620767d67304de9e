package certs

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"time"

	certutil "k8s.io/client-go/util/cert"
)

// parseBundle reads the authorities of a caBundle. One with anything unreadable in it is as good as none: the API server
// does not take a part of it either.
func parseBundle(pem []byte) []*x509.Certificate {
	authorities, err := certutil.ParseCertsPEM(pem)
	if err != nil {
		return nil
	}
	return authorities
}

// mergeBundle adds to a bundle what is missing of the authorities, and drops what has expired: an authority that clients
// once trusted is kept until then, since somebody may still show a certificate it signed. It says whether that changes
// anything but the order.
func mergeBundle(pem []byte, add []*x509.Certificate, now time.Time) (merged []byte, changed bool, err error) {
	old := parseBundle(pem)
	changed = len(old) == 0 // empty, or to be replaced whole
	var keep []*x509.Certificate
	for _, c := range old {
		if expired(c, now) || containsCert(keep, c) {
			changed = true
			continue
		}
		keep = append(keep, c)
	}
	for _, c := range add {
		if !expired(c, now) && !containsCert(keep, c) {
			keep, changed = append(keep, c), true
		}
	}
	if !changed || len(keep) == 0 {
		return pem, false, nil
	}
	merged, err = certutil.EncodeCertificates(keep...)
	return merged, true, err
}

func containsCert(all []*x509.Certificate, c *x509.Certificate) bool {
	return slices.ContainsFunc(all, c.Equal)
}

func expired(c *x509.Certificate, now time.Time) bool { return now.After(c.NotAfter) }

// verifies tells whether a client that trusts the bundle and calls host would accept the certificate.
func verifies(bundle []byte, host string, cert *tls.Certificate, now time.Time) bool {
	leaf, err := leafOf(cert)
	if err != nil {
		return false
	}
	options := x509.VerifyOptions{DNSName: host, Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool(), CurrentTime: now}
	for _, c := range parseBundle(bundle) {
		options.Roots.AddCert(c)
	}
	for _, der := range cert.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			options.Intermediates.AddCert(c)
		}
	}
	_, err = leaf.Verify(options)
	return err == nil
}
