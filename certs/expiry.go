package certs

import "github.com/prometheus/client_golang/prometheus"

// NewExpiry is a metric of when the served certificate expires. It asks the source at each scrape, so it can never tell
// of another certificate than clients see.
func NewExpiry(source Source) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "causeway_certificate_expiry_timestamp_seconds",
		Help: "When the serving certificate expires, in seconds since 1970. 0 if there is none.",
	}, func() float64 {
		cert, err := source.GetCertificate(nil)
		if err != nil {
			return 0
		}
		leaf, err := leafOf(cert)
		if err != nil {
			return 0
		}
		return float64(leaf.NotAfter.Unix())
	})
}
