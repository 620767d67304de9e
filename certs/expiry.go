package certs

import (
	"crypto/x509"

	"github.com/prometheus/client_golang/prometheus"
)

// expiry asks the source at each scrape, so it can never tell of another certificate than clients see.
type expiry struct {
	source        Source
	end, lifetime *prometheus.Desc
}

// NewExpiry tells when the served certificate expires, and how long it is good for in all: whether its renewal is late
// can only be told by both.
func NewExpiry(source Source) prometheus.Collector {
	return &expiry{
		source: source,
		end: prometheus.NewDesc("causeway_certificate_expiry_timestamp_seconds",
			"When the serving certificate expires, in seconds since 1970. 0 if there is none.", nil, nil),
		lifetime: prometheus.NewDesc("causeway_certificate_lifetime_seconds",
			"How long the serving certificate is good for, from its first moment to its last. 0 if there is none.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (e *expiry) Describe(descs chan<- *prometheus.Desc) { descs <- e.end; descs <- e.lifetime }

// Collect implements prometheus.Collector.
func (e *expiry) Collect(metrics chan<- prometheus.Metric) {
	var end, lifetime float64
	if leaf := e.leaf(); leaf != nil {
		end, lifetime = float64(leaf.NotAfter.Unix()), leaf.NotAfter.Sub(leaf.NotBefore).Seconds()
	}
	metrics <- prometheus.MustNewConstMetric(e.end, prometheus.GaugeValue, end)
	metrics <- prometheus.MustNewConstMetric(e.lifetime, prometheus.GaugeValue, lifetime)
}

func (e *expiry) leaf() *x509.Certificate {
	cert, err := e.source.GetCertificate(nil)
	if err != nil {
		return nil
	}
	leaf, err := leafOf(cert)
	if err != nil {
		return nil
	}
	return leaf
}
