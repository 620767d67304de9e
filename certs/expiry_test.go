package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
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
	for want, cert := range map[time.Time]*tls.Certificate{noon.Add(time.Hour): &good, time.Unix(0, 0): nil} {
		registry := prometheus.NewRegistry()
		require.NoError(t, registry.Register(NewExpiry(fixed{cert})))
		families, err := registry.Gather()
		require.NoError(t, err)
		require.Len(t, families, 1)
		require.Equal(t, "causeway_certificate_expiry_timestamp_seconds", families[0].GetName())
		require.InDelta(t, want.Unix(), families[0].GetMetric()[0].GetGauge().GetValue(), 0)
	}
}
