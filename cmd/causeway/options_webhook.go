package main

import (
	"time"

	cliflag "k8s.io/component-base/cli/flag"

	"github.com/causeway-webhook/causeway/webhook"
)

// Values of --capabilities.
const (
	capabilitiesEnforce = string(webhook.ModeEnforce)
	capabilitiesWarn    = string(webhook.ModeWarn)
)

// webhookOptions are the flags of `causeway webhook`.
type webhookOptions struct {
	commonOptions
	Capabilities string
}

func defaultWebhookOptions() *webhookOptions {
	return &webhookOptions{
		commonOptions: commonOptions{
			certOptions:   defaultCertOptions("causeway-webhook", ""),
			Port:          9443,
			ProbeAddress:  ":8081",
			MetricsAddr:   ":8080",
			PprofAddress:  off,
			ShutdownDelay: 5 * time.Second,
			LogFormat:     logJSON,
		},
		Capabilities: capabilitiesEnforce,
	}
}

func (o *webhookOptions) addFlags(sets *cliflag.NamedFlagSets) {
	sets.FlagSet("refusal").StringVar(&o.Capabilities, "capabilities", o.Capabilities,
		`What happens to a capability that the runtime class does not grant: "enforce" refuses it, "warn" lets it pass with a warning.`)
	o.commonOptions.addFlags(sets)
}

func (o *webhookOptions) validate() []error {
	errs := o.commonOptions.validate()
	if o.Capabilities != capabilitiesEnforce && o.Capabilities != capabilitiesWarn {
		errs = append(errs, flagError("capabilities", "must be %q or %q, not %q", capabilitiesEnforce, capabilitiesWarn, o.Capabilities))
	}
	return errs
}
