package certs

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestCheck(t *testing.T) {
	const service = "causeway-webhook.causeway-system.svc"
	good := makeCert(t, noon.Add(-time.Hour), noon.Add(time.Hour), service, "127.0.0.1").cert
	other := makeCert(t, noon.Add(-time.Hour), noon.Add(time.Hour)).cert
	wrongKey := tls.Certificate{Certificate: good.Certificate, PrivateKey: other.PrivateKey}
	noKey := tls.Certificate{Certificate: good.Certificate}
	unparsed := tls.Certificate{Certificate: good.Certificate, PrivateKey: good.PrivateKey}
	garbage := tls.Certificate{Certificate: [][]byte{[]byte("x")}}

	for name, tc := range map[string]struct {
		cert  *tls.Certificate
		names []string
		at    time.Time
		want  Verdict
	}{
		"valid, its name and its address asked for": {cert: &good, names: []string{service, "127.0.0.1"}, at: noon},
		"valid, no name asked for":                  {cert: &other, at: noon},
		"valid though the leaf was not parsed yet":  {cert: &unparsed, names: []string{service}, at: noon},
		"valid in its first second":                 {cert: &good, at: noon.Add(-time.Hour)},
		"valid in its last second":                  {cert: &good, at: noon.Add(time.Hour)},
		"expired one second later": {cert: &good, at: noon.Add(time.Hour + time.Second),
			want: Verdict{Expired, "the certificate expired at 2030-01-01T13:00:00Z, and it is 2030-01-01T13:00:01Z"}},
		"not yet valid one second before": {cert: &good, at: noon.Add(-time.Hour - time.Second),
			want: Verdict{NotYetValid, "the certificate is not valid before 2030-01-01T11:00:00Z, and it is 2030-01-01T10:59:59Z"}},
		"for another name": {cert: &good, names: []string{service, "causeway-status.causeway-system.svc"}, at: noon,
			want: Verdict{OtherName, `the certificate is not for "causeway-status.causeway-system.svc" but for ["causeway-webhook.causeway-system.svc" "127.0.0.1"]`}},
		"a common name alone is no name": {cert: &other, names: []string{"causeway"}, at: noon,
			want: Verdict{OtherName, `the certificate is not for "causeway" but for no name at all (clients read subject alternative names only)`}},
		"another certificate's key": {cert: &wrongKey, at: noon,
			want: Verdict{KeyMismatch, "the private key does not belong to the certificate"}},
		"no key": {cert: &noKey, at: noon,
			want: Verdict{KeyMismatch, "the private key does not belong to the certificate"}},
		"a wrong key is named before an expired date": {cert: &wrongKey, at: noon.Add(2 * time.Hour),
			want: Verdict{KeyMismatch, "the private key does not belong to the certificate"}},
		"none at all": {at: noon, want: Verdict{Unreadable, "there is no certificate"}},
		"bytes that are none": {cert: &garbage, at: noon,
			want: Verdict{Unreadable, "parsing the certificate: x509: malformed certificate"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Check(tc.cert, tc.names, tc.at)
			assert.Equal(t, tc.want, got)
			if tc.want.Problem == None {
				assert.NoError(t, got.Err())
			} else {
				assert.EqualError(t, got.Err(), tc.want.Reason)
			}
		})
	}
}
