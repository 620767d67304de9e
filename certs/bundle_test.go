package certs

import (
	"bytes"
	"crypto/x509"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMergeBundle(t *testing.T) {
	short, long, other := makeSigned(t, noon, time.Hour), makeSigned(t, noon, 2*time.Hour), makeSigned(t, noon, 2*time.Hour)
	both := slices.Concat(short.bundle, long.bundle)
	for name, tc := range map[string]struct {
		bundle      []byte
		add         []*x509.Certificate
		at          time.Time
		want        []byte
		wantChanged bool
	}{
		"the first one":                   {nil, []*x509.Certificate{short.authority}, noon, short.bundle, true},
		"a new one joins the old":         {short.bundle, []*x509.Certificate{long.authority}, noon, both, true},
		"nothing is missing":              {both, []*x509.Certificate{short.authority}, noon, both, false},
		"order alone is no change":        {both, []*x509.Certificate{long.authority, short.authority}, noon, both, false},
		"the old one leaves when expired": {both, []*x509.Certificate{long.authority}, noon.Add(4 * time.Hour), long.bundle, true},
		"and not in its last second":      {both, []*x509.Certificate{long.authority}, noon.Add(3 * time.Hour), both, false},
		"an expired one does not join":    {long.bundle, []*x509.Certificate{short.authority}, noon.Add(4 * time.Hour), long.bundle, false},
		"twice the same":                  {slices.Concat(long.bundle, long.bundle), nil, noon, long.bundle, true},
		"somebody else's stays":           {other.bundle, []*x509.Certificate{long.authority}, noon, slices.Concat(other.bundle, long.bundle), true},
		"what is no bundle is replaced":   {[]byte("Cg=="), []*x509.Certificate{long.authority}, noon, long.bundle, true},
		"never to nothing":                {short.bundle, nil, noon.Add(4 * time.Hour), short.bundle, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, changed, err := mergeBundle(tc.bundle, tc.add, tc.at)
			require.NoError(t, err)
			assert.Equal(t, tc.wantChanged, changed)
			assert.True(t, bytes.Equal(tc.want, got), "got\n%s", got)
		})
	}
}

func TestVerifies(t *testing.T) {
	a, b := makeSigned(t, noon, time.Hour), makeSigned(t, noon, time.Hour)
	assert.True(t, verifies(a.bundle, "a.example", a.cert, noon))
	assert.True(t, verifies(slices.Concat(b.bundle, a.bundle), "a.example", a.cert, noon), "among others")
	assert.False(t, verifies(b.bundle, "a.example", a.cert, noon), "another authority")
	assert.False(t, verifies(a.bundle, "b.example", a.cert, noon), "another name")
	assert.False(t, verifies(a.bundle, "a.example", a.cert, noon.Add(2*time.Hour)), "expired")
	assert.False(t, verifies(nil, "a.example", a.cert, noon), "nothing is trusted")
	assert.False(t, verifies(a.bundle, "a.example", nil, noon), "nothing is shown")
}
