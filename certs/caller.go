package certs

import (
	"bytes"
	"net/url"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// Caller is the API server in one of its roles: as one webhook's client.
type Caller struct {
	// Host is the name under which it calls, and that the certificate must be for.
	Host string
	// Bundle are the authorities it trusts, PEM; empty: those of its system.
	Bundle []byte
}

func (c Caller) equal(other Caller) bool {
	return c.Host == other.Host && bytes.Equal(c.Bundle, other.Bundle)
}

func callerOf(c admissionregistrationv1.WebhookClientConfig) Caller {
	switch {
	case c.Service != nil:
		return Caller{Host: c.Service.Name + "." + c.Service.Namespace + ".svc", Bundle: c.CABundle}
	case c.URL != nil:
		if u, err := url.Parse(*c.URL); err == nil {
			return Caller{Host: u.Hostname(), Bundle: c.CABundle}
		}
	}
	return Caller{Bundle: c.CABundle} // refused by the API server, and so not met
}

// hostsOf lists the names the callers use, each once, in order.
func hostsOf(callers []Caller) []string {
	var hosts []string
	for _, c := range callers {
		if c.Host != "" {
			hosts = append(hosts, c.Host)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
