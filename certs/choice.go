package certs

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"
	"time"
)

// defaultSettle is how long a new certificate must have been trusted before it is served. There may be several API
// servers, and each hears of a changed configuration a moment after it was stored.
const defaultSettle = 3 * time.Second

// choice is what is served, and what will be once clients trust it. Any goroutine may ask for what is served; one alone
// may change it.
type choice struct {
	settle time.Duration
	served atomic.Pointer[tls.Certificate]
	newest *tls.Certificate
	since  time.Time // the newest has been trusted since; zero: it is not
	said   string    // the last outcome, to say each once
}

// offer makes cert the newest. The first one is served at once: there is nothing better.
func (c *choice) offer(cert *tls.Certificate) {
	if c.newest == nil {
		c.served.Store(cert)
	}
	c.newest, c.since = cert, time.Time{}
}

// pending tells whether something newer than what is served is known.
func (c *choice) pending() bool { return c.newest != c.served.Load() }

// decide serves the newest certificate, unless more of those who call trust the one served now. It returns what there is
// to say about that, or nothing if it was said already.
//
// Those without a bundle, which trust the system's authorities, have no say; nor has anybody where nobody is known.
func (c *choice) decide(callers []Caller, now time.Time) (news string) {
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
		c.since = time.Time{}
		return c.say(fmt.Sprintf("Kept the old serving certificate: %d of %d webhooks verify the new one, %d the old one", fresh, all, old))
	case old == 0: // the old one is of no use
	case c.since.IsZero():
		c.since = now
		return ""
	case now.Sub(c.since) < c.settle:
		return ""
	}
	c.served.Store(c.newest)
	return c.say(fmt.Sprintf("Serving a new certificate: %d of %d webhooks verify it", fresh, all))
}

func (c *choice) say(news string) string {
	if news == c.said {
		return ""
	}
	c.said = news
	return news
}
