package certs

import (
	"crypto/tls"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// defaultSettle is how long the bundles must have been as they are before anything new is served by them. There may be
// several API servers, and each hears of a changed configuration a moment after it was stored.
const defaultSettle = 3 * time.Second

// choice is what is served, and what will be once clients trust it. Any goroutine may ask for what is served; one alone
// may change it.
type choice struct {
	settle  time.Duration
	served  atomic.Pointer[tls.Certificate]
	newest  *tls.Certificate
	callers []Caller  // as they were last seen
	since   time.Time // and have been since
	kept    string    // why the newest is not served, to say it once
}

// offer makes cert the newest. The first one is served at once: there is nothing better.
func (c *choice) offer(cert *tls.Certificate) {
	if c.newest == nil {
		c.served.Store(cert)
	}
	c.newest, c.kept = cert, ""
}

// pending tells whether something newer than what is served is known.
func (c *choice) pending() bool { return c.newest != c.served.Load() }

// see notes who calls. It tells whether they have been the same for long enough for all API servers to know.
func (c *choice) see(callers []Caller, now time.Time) (settled bool) {
	if c.since.IsZero() || !slices.EqualFunc(c.callers, callers, Caller.equal) {
		c.callers, c.since = callers, now
	}
	return now.Sub(c.since) >= c.settle
}

// decide serves the newest certificate, unless more of those who call trust the one served now, or they have only just
// come to trust it. It returns what there is to say about that, or nothing if it was said already.
//
// Those without a bundle, which trust the system's authorities, have no say; nor has anybody where nobody is known.
func (c *choice) decide(callers []Caller, now time.Time) (news string) {
	settled := c.see(callers, now)
	if !c.pending() {
		return ""
	}
	old, fresh, all := 0, 0, 0
	for _, caller := range callers {
		if len(caller.Bundle) == 0 {
			continue
		}
		all++
		if verifies(caller.Bundle, caller.Host, c.served.Load(), now) {
			old++
		}
		if verifies(caller.Bundle, caller.Host, c.newest, now) {
			fresh++
		}
	}
	switch {
	case fresh < old:
		news = fmt.Sprintf("Kept the old serving certificate: %d of %d webhooks verify the new one, %d the old one", fresh, all, old)
		if news == c.kept {
			return ""
		}
		c.kept = news
		return news
	case old > 0 && !settled:
		return ""
	}
	c.served.Store(c.newest)
	return fmt.Sprintf("Serving a new certificate: %d of %d webhooks verify it", fresh, all)
}
