package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// maxAuthorities bounds what a Secret collects, should machines whose clocks disagree renew each other's authorities.
const maxAuthorities = 8

// lifetimes are how long what is issued is good for. A third of it before the end it is renewed.
type lifetimes struct{ authority, serving time.Duration }

// renew issues what is missing or due, and says why, a reason for each change; none: nothing is due.
//
// The order is that of trust: a new authority comes first, and alone; the certificate that is served is signed by it
// only once it is trusted (the caller says so), unless what is served now is of no use anyway; the old authority leaves
// when it has expired.
func (l lifetimes) renew(h holding, names []string, trusted bool, now time.Time) (holding, []string, error) {
	var reasons []string
	if why := l.authorityDue(h, now); why != "" {
		authority, key, err := issueAuthority(now, l.authority)
		if err != nil {
			return h, nil, err
		}
		h.authorities = append([]*x509.Certificate{authority}, h.authorities...)
		h.authorities = h.authorities[:min(len(h.authorities), maxAuthorities)]
		h.key, trusted = key, false
		reasons = append(reasons, "issued a new authority: "+why)
	}
	if rest := slices.DeleteFunc(slices.Clone(h.authorities), func(c *x509.Certificate) bool { return expired(c, now) }); len(rest) < len(h.authorities) {
		h.authorities = rest
		reasons = append(reasons, "dropped an authority that has expired")
	}
	// What is wrong with the certificate is mended at once, what is only due when it does no harm.
	verdict := Check(h.serving, names, now)
	why := verdict.Reason
	if why == "" && trusted {
		why = l.servingDue(h, now)
	}
	if why != "" {
		serving, err := issueServing(h.authorities[0], h.key, allNames(names, h.serving), now, l.serving)
		if err != nil {
			return h, nil, err
		}
		h.serving = serving
		reasons = append(reasons, "issued a new serving certificate: "+why)
	}
	return h, reasons, nil
}

// authorityDue says why a new authority is needed, or nothing.
func (l lifetimes) authorityDue(h holding, now time.Time) string {
	if len(h.authorities) == 0 {
		return "there is none"
	}
	newest := h.authorities[0]
	switch {
	case h.key == nil || !keyFits(newest, h.key):
		return "the key of the old one is not here"
	case now.Before(newest.NotBefore):
		return fmt.Sprintf("the old one is not valid before %s, and it is %s", stamp(newest.NotBefore), stamp(now))
	case endsSoon(newest, now):
		return "the old one ends at " + stamp(newest.NotAfter)
	}
	return ""
}

// servingDue says why a good certificate is to be replaced, or nothing.
func (l lifetimes) servingDue(h holding, now time.Time) string {
	switch {
	case h.serving.Leaf.CheckSignatureFrom(h.authorities[0]) != nil:
		return "the old one is signed by another authority"
	case endsSoon(h.serving.Leaf, now):
		return "the old one ends at " + stamp(h.serving.Leaf.NotAfter)
	}
	return ""
}

// endsSoon tells whether less than a third of a certificate's life is left.
func endsSoon(c *x509.Certificate, now time.Time) bool {
	return c.NotAfter.Sub(now) < c.NotAfter.Sub(c.NotBefore)/3
}

// allNames are those asked for now and those of the old certificate: two processes share one, and each knows only the
// names of its own webhooks.
func allNames(names []string, old *tls.Certificate) []string {
	all := slices.Clone(names)
	if leaf, err := leafOf(old); err == nil {
		all = append(all, leaf.DNSNames...)
		for _, ip := range leaf.IPAddresses {
			all = append(all, ip.String())
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
