package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"time"
)

// issueAuthority makes a certificate authority that signs serving certificates and nothing below them.
//
// client-go's NewSelfSignedCACert would do, but for its ten years, which nobody can choose.
func issueAuthority(now time.Time, lifetime time.Duration) (*x509.Certificate, crypto.Signer, error) {
	key, template, err := newTemplate("causeway-ca", now, lifetime)
	if err != nil {
		return nil, nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.MaxPathLenZero = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	authority, err := sign(template, template, key.Public(), key)
	if err != nil {
		return nil, nil, fmt.Errorf("issuing an authority: %w", err)
	}
	return authority, key, nil
}

// issueServing makes a certificate for names, signed by an authority that outlives it.
func issueServing(authority *x509.Certificate, authorityKey crypto.Signer, names []string, now time.Time, lifetime time.Duration) (*tls.Certificate, error) {
	key, template, err := newTemplate("causeway", now, lifetime)
	if err != nil {
		return nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if authority.NotAfter.Before(template.NotAfter) {
		template.NotAfter = authority.NotAfter
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	leaf, err := sign(template, authority, key.Public(), authorityKey)
	if err != nil {
		return nil, fmt.Errorf("issuing a serving certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}, nil
}

// newTemplate is what both have in common. They begin a little in the past, for clocks that are behind this one.
func newTemplate(name string, now time.Time, lifetime time.Duration) (crypto.Signer, *x509.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("making a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, fmt.Errorf("picking a serial number: %w", err)
	}
	return key, &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-min(time.Hour, lifetime/24)),
		NotAfter:     now.Add(lifetime),
	}, nil
}

func sign(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}
