package certs

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTheOldCertificateIsServedUntilTheNewOneIsTrusted(t *testing.T) {
	old, fresh := makeSigned(t, noon, time.Hour), makeSigned(t, noon, 24*time.Hour)
	both := append(append([]byte{}, old.bundle...), fresh.bundle...)
	by := func(bundles ...[]byte) (callers []Caller) {
		for _, b := range bundles {
			callers = append(callers, Caller{Host: "a.example", Bundle: b})
		}
		return callers
	}
	for name, tc := range map[string]struct {
		callers  []Caller
		at       time.Time
		now      *tls.Certificate // served at once
		later    *tls.Certificate // served after the settling time
		wantNews string
	}{
		"a leaf that outran its authority": {by(old.bundle, old.bundle), noon, old.cert, old.cert,
			"Kept the old serving certificate: 0 of 2 webhooks verify the new one, 2 the old one"},
		"trusted by a part": {by(both, old.bundle), noon, old.cert, old.cert,
			"Kept the old serving certificate: 1 of 2 webhooks verify the new one, 2 the old one"},
		"trusted by all":                     {by(both, both), noon, old.cert, fresh.cert, ""},
		"replaced with no overlap, half way": {by(fresh.bundle, old.bundle), noon, old.cert, fresh.cert, ""},
		"replaced with no overlap": {by(fresh.bundle, fresh.bundle), noon, fresh.cert, fresh.cert,
			"Serving a new certificate: 2 of 2 webhooks verify it"},
		"the old one has expired": {by(both, old.bundle), noon.Add(2 * time.Hour), fresh.cert, fresh.cert,
			"Serving a new certificate: 1 of 2 webhooks verify it"},
		"nobody trusts either": {by([]byte("x")), noon, fresh.cert, fresh.cert,
			"Serving a new certificate: 0 of 1 webhooks verify it"},
		"those who trust the system have no say": {by(nil, nil), noon, fresh.cert, fresh.cert,
			"Serving a new certificate: 0 of 0 webhooks verify it"},
		"nobody is known": {nil, noon, fresh.cert, fresh.cert,
			"Serving a new certificate: 0 of 0 webhooks verify it"},
	} {
		t.Run(name, func(t *testing.T) {
			c := choice{settle: defaultSettle}
			c.offer(old.cert)
			assert.Same(t, old.cert, c.served.Load(), "the first one is served at once")
			assert.Empty(t, c.decide(by(old.bundle, old.bundle), tc.at.Add(-time.Hour/2)), "and nothing is said of it")
			c.offer(fresh.cert)
			assert.Equal(t, tc.wantNews, c.decide(tc.callers, tc.at))
			assert.Same(t, tc.now, c.served.Load())
			assert.Empty(t, c.decide(tc.callers, tc.at.Add(defaultSettle-1)), "nothing is said twice")
			assert.Same(t, tc.now, c.served.Load())
			c.decide(tc.callers, tc.at.Add(defaultSettle))
			assert.Same(t, tc.later, c.served.Load())
		})
	}
}

func TestWhatWasTrustedForLongIsServedAtOnce(t *testing.T) {
	authority := makeSigned(t, noon, time.Hour)
	renewed := *authority.cert // as good as a renewed one: the same authority signed it
	callers := []Caller{{"a.example", authority.bundle}}
	c := choice{settle: defaultSettle}
	c.offer(authority.cert)
	c.decide(callers, noon)
	c.offer(&renewed)
	assert.Equal(t, "Serving a new certificate: 1 of 1 webhooks verify it", c.decide(callers, noon.Add(defaultSettle)))
	assert.Same(t, &renewed, c.served.Load())
}

func TestTrustThatIsLostSettlesAnew(t *testing.T) {
	old, fresh := makeSigned(t, noon, time.Hour), makeSigned(t, noon, time.Hour)
	both := []Caller{{"a.example", append(append([]byte{}, old.bundle...), fresh.bundle...)}}
	c := choice{settle: defaultSettle}
	c.offer(old.cert)
	c.offer(fresh.cert)
	c.decide(both, noon)
	c.decide([]Caller{{"a.example", old.bundle}}, noon.Add(time.Second))
	c.decide(both, noon.Add(2*time.Second))
	c.decide(both, noon.Add(4*time.Second))
	assert.Same(t, old.cert, c.served.Load())
	c.decide(both, noon.Add(5*time.Second))
	assert.Same(t, fresh.cert, c.served.Load())
}
