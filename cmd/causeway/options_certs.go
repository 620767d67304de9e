package main

import (
	"time"

	cliflag "k8s.io/component-base/cli/flag"

	"github.com/causeway-webhook/causeway/certs"
)

// Values of --cert-mode.
const (
	certFiles       = "files"
	certSelfManaged = "self-managed"
)

// certOptions are the flags about certificates: what this process shows, and what it asks to see.
type certOptions struct {
	Mode              string
	Dir               string
	Secret            namespacedName
	AuthorityLifetime time.Duration
	ServingLifetime   time.Duration
	Validating        string
	Mutating          string
	ClientCAFile      string
	ClientNames       []string
}

// defaultCertOptions has the names of one sub-command's webhook configurations in deploy/.
func defaultCertOptions(validating, mutating string) certOptions {
	return certOptions{
		Mode:              certFiles,
		Dir:               "/etc/causeway/tls",
		Secret:            namespacedName{Namespace: "causeway-system", Name: "causeway-self-managed"},
		AuthorityLifetime: certs.DefaultAuthorityLifetime,
		ServingLifetime:   certs.DefaultServingLifetime,
		Validating:        validating,
		Mutating:          mutating,
	}
}

func (o *certOptions) addFlags(sets *cliflag.NamedFlagSets) {
	section := sets.FlagSet("certificate")
	section.StringVar(&o.Mode, "cert-mode", o.Mode,
		`Where the serving certificate comes from: "files" reads --cert-dir, "self-managed" issues and renews it, and keeps the webhook configurations trusting it.`)
	section.StringVar(&o.Dir, "cert-dir", o.Dir,
		"Folder with tls.crt and tls.key, as a mounted Secret. A renewed certificate is used from the next handshake on, once the webhook configurations verify it.")
	section.Var(&o.Secret, "cert-secret",
		"The Secret, as namespace/name, in which self-managed certificates are kept. All replicas and both sub-commands share it.")
	section.DurationVar(&o.AuthorityLifetime, "ca-lifetime", o.AuthorityLifetime,
		"How long a self-managed authority is good for. It is renewed when a third of that is left, and the old one trusted until its end.")
	section.DurationVar(&o.ServingLifetime, "cert-lifetime", o.ServingLifetime,
		"How long a self-managed certificate is good for, a third of --ca-lifetime at most. It is renewed when a third of it is left.")
	section.StringVar(&o.Validating, "validating-webhook-configuration", o.Validating,
		"Name of the ValidatingWebhookConfiguration that calls this process. Its caBundle decides when a renewed certificate is served; self-managed, it is kept right. Empty for none.")
	section.StringVar(&o.Mutating, "mutating-webhook-configuration", o.Mutating,
		"The same for a MutatingWebhookConfiguration.")
	section.StringVar(&o.ClientCAFile, "client-ca-file", o.ClientCAFile,
		"File with the authorities, PEM, that sign the API server's client certificate. With it nobody else may call; without it anybody may.")
	section.StringSliceVar(&o.ClientNames, "client-allowed-names", o.ClientNames,
		"Common names of those who may call, with --client-ca-file. Without names, whoever has a certificate of those authorities.")
}

// validate returns one error for each flag that cannot be right.
func (o *certOptions) validate() []error {
	var errs []error
	switch o.Mode {
	case certFiles:
		if o.Dir == "" {
			errs = append(errs, flagError("cert-dir", "must name the folder with tls.crt and tls.key"))
		}
	case certSelfManaged:
	default:
		errs = append(errs, flagError("cert-mode", "must be %q or %q, not %q", certFiles, certSelfManaged, o.Mode))
	}
	// Else a certificate signed just before its authority was renewed would outlive it.
	if o.ServingLifetime <= 0 || o.ServingLifetime > o.AuthorityLifetime/3 {
		errs = append(errs, flagError("cert-lifetime", "must be more than 0s and at most a third of --ca-lifetime, which is %s, not %s", o.AuthorityLifetime, o.ServingLifetime))
	}
	if len(o.ClientNames) > 0 && o.ClientCAFile == "" {
		errs = append(errs, flagError("client-allowed-names", "needs --client-ca-file: a name is proven by a certificate"))
	}
	return errs
}
