package certs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var year = lifetimes{DefaultAuthorityLifetime, DefaultServingLifetime}

// Five years of a process that looks once a day. Whatever is shown must be verified by what clients trusted before
// it was made, and by what they trust now.
func TestRenewalAfterRenewal(t *testing.T) {
	names := []string{"a.example", "192.0.2.7"}
	var h holding
	var bundle []byte
	authorities, servings := 0, 0
	for now := noon; now.Before(noon.AddDate(5, 0, 0)); now = now.AddDate(0, 0, 1) {
		callers := []Caller{{"a.example", bundle}, {"192.0.2.7", bundle}}
		after, reasons, err := year.renew(h, names, h.trustedBy(callers), now)
		require.NoError(t, err)
		if len(reasons) == 0 {
			assert.Equal(t, h, after)
		}
		if h.serving == nil || !h.authorities[0].Equal(after.authorities[0]) {
			authorities++
		}
		if h.serving != after.serving {
			servings++
			if h.serving != nil {
				require.Len(t, reasons, 1, "never together with an authority: %q", reasons)
				require.True(t, verifies(bundle, "a.example", after.serving, now), "clients trusted it before it was made")
			}
		}
		bundle, _, err = mergeBundle(bundle, after.authorities, now)
		require.NoError(t, err)
		require.True(t, verifies(bundle, "192.0.2.7", after.serving, now))
		require.Equal(t, Verdict{}, Check(after.serving, names, now))
		require.LessOrEqual(t, len(after.authorities), 2)
		require.LessOrEqual(t, len(parseBundle(bundle)), 2, "what has expired is dropped")
		if h.serving != nil {
			require.True(t, verifies(bundle, "a.example", h.serving, now), "who still shows the old one is trusted too")
		}
		h = after
	}
	assert.Equal(t, 8, authorities, "every two thirds of a year")
	assert.Greater(t, servings, 5*365/20, "every two thirds of thirty days")
}

func TestRenewSaysWhy(t *testing.T) {
	names := []string{"a.example"}
	fresh, reasons, err := year.renew(holding{}, names, false, noon)
	require.NoError(t, err)
	require.Equal(t, []string{"issued a new authority: there is none", "issued a new serving certificate: there is no certificate"}, reasons)
	without := func(change func(*holding)) holding {
		h := fresh
		change(&h)
		return h
	}
	other, _, err := year.renew(holding{}, names, false, noon)
	require.NoError(t, err)
	day := 24 * time.Hour

	for name, tc := range map[string]struct {
		held      holding
		names     []string
		untrusted bool
		at        time.Time
		want      []string
	}{
		"nothing is due":                           {fresh, names, false, noon, nil},
		"nor a moment before a third is left":      {fresh, names, false, noon.Add(19 * day), nil},
		"a third of the certificate's life":        {fresh, names, false, noon.Add(21 * day), []string{"issued a new serving certificate: the old one ends at 2030-01-31T12:00:00Z"}},
		"the same, but its authority is new":       {fresh, names, true, noon.Add(21 * day), nil},
		"another name is asked for":                {fresh, []string{"a.example", "b.example"}, false, noon, []string{`issued a new serving certificate: the certificate is not for "b.example" but for ["a.example"]`}},
		"the authority's key is gone":              {without(func(h *holding) { h.key = nil }), names, true, noon, []string{"issued a new authority: the key of the old one is not here"}},
		"the authority's key is another's":         {without(func(h *holding) { h.key = other.key }), names, true, noon, []string{"issued a new authority: the key of the old one is not here"}},
		"the certificate is gone":                  {without(func(h *holding) { h.serving = nil }), names, true, noon, []string{"issued a new serving certificate: there is no certificate"}},
		"the certificate is another's":             {without(func(h *holding) { h.serving = other.serving }), names, false, noon, []string{"issued a new serving certificate: the old one is signed by another authority"}},
		"the same, until the authority is trusted": {without(func(h *holding) { h.serving = other.serving }), names, true, noon, nil},
		"the machine was suspended for a month":    {fresh, names, true, noon.Add(31 * day), []string{"issued a new serving certificate: the certificate expired at 2030-01-31T12:00:00Z, and it is 2030-02-01T12:00:00Z"}},
		"and for two years": {fresh, names, true, noon.Add(730 * day), []string{"issued a new authority: the old one ends at 2031-01-01T12:00:00Z", "dropped an authority that has expired",
			"issued a new serving certificate: the certificate expired at 2030-01-31T12:00:00Z, and it is 2032-01-01T12:00:00Z"}},
		"the clock was ahead when it was issued": {fresh, names, true, noon.Add(-2 * day), []string{"issued a new authority: the old one is not valid before 2030-01-01T11:00:00Z, and it is 2029-12-30T12:00:00Z",
			"issued a new serving certificate: the certificate is not valid before 2030-01-01T11:00:00Z, and it is 2029-12-30T12:00:00Z"}},
		"the clock was a little ahead": {fresh, names, false, noon.Add(-time.Hour), nil},
	} {
		t.Run(name, func(t *testing.T) {
			after, reasons, err := year.renew(tc.held, tc.names, !tc.untrusted, tc.at)
			require.NoError(t, err)
			assert.Equal(t, tc.want, reasons)
			assert.Equal(t, None, Check(after.serving, tc.names, tc.at).Problem)
			_, again, err := year.renew(after, tc.names, false, tc.at)
			require.NoError(t, err)
			assert.Empty(t, again, "once is enough")
		})
	}
}

// Two halves share one certificate, and each asks for the names of its own webhooks.
func TestTwoHalvesAgreeOnNames(t *testing.T) {
	h, _, err := year.renew(holding{}, []string{"b.example"}, false, noon)
	require.NoError(t, err)
	h, reasons, err := year.renew(h, []string{"a.example"}, true, noon)
	require.NoError(t, err)
	assert.Len(t, reasons, 1)
	assert.Equal(t, []string{"a.example", "b.example"}, h.serving.Leaf.DNSNames)
	_, reasons, err = year.renew(h, []string{"b.example"}, true, noon)
	require.NoError(t, err)
	assert.Empty(t, reasons)
}

func TestClocksThatDisagreeFillNoSecret(t *testing.T) {
	var h holding
	for i := range 40 {
		now := noon.AddDate(i%2, 0, 0)
		var err error
		h, _, err = year.renew(h, []string{"a.example"}, false, now)
		require.NoError(t, err)
	}
	assert.LessOrEqual(t, len(h.authorities), maxAuthorities)
}

func TestTheSecretHoldsItAll(t *testing.T) {
	h, _, err := year.renew(holding{}, []string{"a.example"}, false, noon)
	require.NoError(t, err)
	data, err := h.data()
	require.NoError(t, err)
	got := parseHolding(data)
	assert.Equal(t, h.authorities, got.authorities)
	assert.Equal(t, h.key, got.key)
	assert.Equal(t, h.serving.Certificate, got.serving.Certificate)
	assert.Equal(t, h.serving.PrivateKey, got.serving.PrivateKey)
	assert.NotEqual(t, h.authorities[0].SerialNumber, h.serving.Leaf.SerialNumber)
	assert.Greater(t, h.serving.Leaf.SerialNumber.BitLen(), 64, "serial numbers are random")
	assert.Equal(t, holding{}, parseHolding(map[string][]byte{authorityCertFile: []byte("x"), CertFile: data[CertFile]}), "half of it is as good as nothing")
}
