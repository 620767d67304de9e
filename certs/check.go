package certs

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"
)

// Problem is the kind of fault a certificate has. The empty one means none.
type Problem string

const (
	// None: the certificate can be served.
	None Problem = ""
	// Unreadable: there is no certificate, or it cannot be parsed.
	Unreadable Problem = "unreadable"
	// KeyMismatch: the private key belongs to another certificate, as after a Secret was half updated.
	KeyMismatch Problem = "key mismatch"
	// NotYetValid: its first moment is still to come; mostly a clock that is wrong on one of two machines.
	NotYetValid Problem = "not yet valid"
	// Expired: its last moment has passed.
	Expired Problem = "expired"
	// OtherName: it is not for a name under which clients will call.
	OtherName Problem = "other name"
)

// Verdict is what Check found: the kind of fault, and the same in words for an operator.
type Verdict struct {
	Problem Problem
	Reason  string
}

// Err is nil for a good certificate, else the reason as an error.
func (v Verdict) Err() error {
	if v.Problem == None {
		return nil
	}
	return fmt.Errorf("%s", v.Reason)
}

// Check judges a certificate with its key at the moment now, for all of names (none: names are not judged). It names one
// fault, the first that a client would meet whatever else is wrong: a key that does not fit breaks every handshake, a
// date breaks it for all names.
func Check(cert *tls.Certificate, names []string, now time.Time) Verdict {
	leaf, err := leafOf(cert)
	if err != nil {
		return Verdict{Unreadable, err.Error()}
	}
	if !keyFits(leaf, cert.PrivateKey) {
		return Verdict{KeyMismatch, "the private key does not belong to the certificate"}
	}
	if now.Before(leaf.NotBefore) {
		return Verdict{NotYetValid, fmt.Sprintf("the certificate is not valid before %s, and it is %s", stamp(leaf.NotBefore), stamp(now))}
	}
	// A certificate is good through the second it names (RFC 5280, 4.1.2.5).
	if now.After(leaf.NotAfter) {
		return Verdict{Expired, fmt.Sprintf("the certificate expired at %s, and it is %s", stamp(leaf.NotAfter), stamp(now))}
	}
	for _, name := range names {
		if leaf.VerifyHostname(name) != nil {
			return Verdict{OtherName, fmt.Sprintf("the certificate is not for %q but for %s", name, namesOf(leaf))}
		}
	}
	return Verdict{}
}

func leafOf(cert *tls.Certificate) (*x509.Certificate, error) {
	if cert == nil || len(cert.Certificate) == 0 {
		return nil, fmt.Errorf("there is no certificate")
	}
	if cert.Leaf != nil {
		return cert.Leaf, nil
	}
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		return nil, fmt.Errorf("parsing the certificate: %w", err)
	}
	return leaf, nil
}

func keyFits(leaf *x509.Certificate, key crypto.PrivateKey) bool {
	signer, ok := key.(crypto.Signer)
	if !ok {
		return false
	}
	// Every public key type of the standard library has this method.
	public, ok := signer.Public().(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(leaf.PublicKey)
}

func namesOf(leaf *x509.Certificate) string {
	names := append([]string{}, leaf.DNSNames...)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "no name at all (clients read subject alternative names only)"
	}
	return fmt.Sprintf("%q", names)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
