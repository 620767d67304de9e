package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
)

type fixed struct{ cert *tls.Certificate }

func (f fixed) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if f.cert == nil {
		return nil, errors.New("none yet")
	}
	return f.cert, nil
}
func (fixed) Start(context.Context) error { return nil }
func (fixed) Ready() error                { return nil }

func TestExpiry(t *testing.T) {
	good := makeCert(t, noon, noon.Add(time.Hour)).cert
	for name, tc := range map[string]struct {
		cert              *tls.Certificate
		wantEnd, wantLife int64
	}{
		"a certificate": {&good, noon.Add(time.Hour).Unix(), 3600},
		"none yet":      {nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			want := fmt.Sprintf(`# HELP causeway_certificate_expiry_timestamp_seconds When the serving certificate expires, in seconds since 1970. 0 if there is none.
# TYPE causeway_certificate_expiry_timestamp_seconds gauge
causeway_certificate_expiry_timestamp_seconds %d
# HELP causeway_certificate_lifetime_seconds How long the serving certificate is good for, from its first moment to its last. 0 if there is none.
# TYPE causeway_certificate_lifetime_seconds gauge
causeway_certificate_lifetime_seconds %d
`, tc.wantEnd, tc.wantLife)
			require.NoError(t, testutil.CollectAndCompare(NewExpiry(fixed{tc.cert}), strings.NewReader(want)))
		})
	}
}
