package main

import (
	"fmt"
	"net"
	"strconv"
	"time"

	cliflag "k8s.io/component-base/cli/flag"
)

// commonOptions are the flags both sub-commands have.
type commonOptions struct {
	certOptions
	Kubeconfig    string
	Port          int
	ProbeAddress  string
	MetricsAddr   string
	MetricsSecure bool
	PprofAddress  string
	OTLPEndpoint  string
	ShutdownDelay time.Duration
	LogFormat     string
	Dev           bool
	Verbosity     int
}

// off, as an address, turns a server off; the value is controller-runtime's.
const off = "0"

// maxVerbosity is the highest level at which nothing secret is logged: from 8 on, client-go writes out the bodies of
// requests and answers, and one of them is the Secret with the serving key.
const maxVerbosity = 7

// addFlags registers the common flags in sections. Defaults are those already in o: the sub-commands share a Pod and so
// need different ports.
func (o *commonOptions) addFlags(sets *cliflag.NamedFlagSets) {
	api := sets.FlagSet("API server")
	api.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig,
		"Path to the kubeconfig of the control plane to watch over. Without it the service account of the Pod is used.")

	serving := sets.FlagSet("serving")
	serving.IntVar(&o.Port, "port", o.Port,
		"Port for reviews, HTTPS. 0 takes a free one and logs it.")
	serving.StringVar(&o.ProbeAddress, "health-probe-bind-address", o.ProbeAddress,
		"Address of /healthz and /readyz, plain HTTP. 0 turns them off.")
	serving.StringVar(&o.MetricsAddr, "metrics-bind-address", o.MetricsAddr,
		"Address of /metrics, plain HTTP. 0 turns it off.")
	serving.BoolVar(&o.MetricsSecure, "metrics-secure", o.MetricsSecure,
		"Serve /metrics over HTTPS, to those alone whom the API server knows and lets get the path /metrics.")
	serving.StringVar(&o.PprofAddress, "pprof-bind-address", o.PprofAddress,
		"Address of /debug/pprof/, plain HTTP. 0 turns it off. Profiles show the arguments and the stacks of the process, so bind it to loopback, such as 127.0.0.1:6060.")
	serving.DurationVar(&o.ShutdownDelay, "shutdown-delay", o.ShutdownDelay,
		"How long reviews are still taken after readiness failed at shutdown, until the Service has heard of it.")

	o.certOptions.addFlags(sets)

	logs := sets.FlagSet("logs")
	logs.IntVarP(&o.Verbosity, "log-level", "v", o.Verbosity,
		"Verbosity, 0 to "+strconv.Itoa(maxVerbosity)+": 0 for changes of state, 4 and above for traces.")
	logs.StringVar(&o.LogFormat, "log-format", o.LogFormat, `"json" or "text".`)
	logs.BoolVar(&o.Dev, "dev", o.Dev, "Logs for a person at a terminal: text, whatever --log-format says, with the time of day and the name of each level in colour.")

	sets.FlagSet("traces").StringVar(&o.OTLPEndpoint, "otlp-endpoint", o.OTLPEndpoint,
		"Where a collector takes OpenTelemetry traces by OTLP over gRPC, such as http://localhost:4317. Without it none are made. OTEL_* environment variables set the rest, such as OTEL_TRACES_SAMPLER.")
}

// logFormat is what the two flags about it come to.
func (o *commonOptions) logFormat() string {
	if o.Dev {
		return logDev
	}
	return o.LogFormat
}

// validate returns one error for each flag that cannot be right.
func (o *commonOptions) validate() []error {
	errs := o.certOptions.validate()
	if o.Port < 0 || o.Port > 65535 {
		errs = append(errs, flagError("port", "must be between 0 and 65535, not %d", o.Port))
	}
	errs = append(errs, validateAddress("health-probe-bind-address", o.ProbeAddress)...)
	errs = append(errs, validateAddress("metrics-bind-address", o.MetricsAddr)...)
	if o.ProbeAddress == o.MetricsAddr && o.ProbeAddress != off && portOf(o.ProbeAddress) != "0" {
		errs = append(errs, flagError("metrics-bind-address", "must differ from --health-probe-bind-address, both are %q", o.MetricsAddr))
	}
	errs = append(errs, validateAddress("pprof-bind-address", o.PprofAddress)...)
	errs = append(errs, validateEndpoint("otlp-endpoint", o.OTLPEndpoint)...)
	if o.ShutdownDelay < 0 {
		errs = append(errs, flagError("shutdown-delay", "must not be negative, not %s", o.ShutdownDelay))
	}
	if o.LogFormat != logJSON && o.LogFormat != logText {
		errs = append(errs, flagError("log-format", "must be %q or %q, not %q", logJSON, logText, o.LogFormat))
	}
	if o.Verbosity < 0 || o.Verbosity > maxVerbosity {
		errs = append(errs, flagError("log-level", "must be between 0 and %d, not %d", maxVerbosity, o.Verbosity))
	}
	return errs
}

func validateAddress(flag, address string) []error {
	if address == off {
		return nil
	}
	port, err := strconv.Atoi(portOf(address))
	if err != nil || port < 0 || port > 65535 {
		return []error{flagError(flag, "must be host:port or :port, or 0 for none, not %q", address)}
	}
	return nil
}

// portOf is empty for what is no host:port.
func portOf(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return port
}

func flagError(flag, format string, args ...any) error {
	return fmt.Errorf("--"+flag+" "+format, args...)
}
