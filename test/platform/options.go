package platform

import (
	"cmp"
	"errors"
	"log/slog"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
)

// Options says how to run the platform. Only Config is required.
type Options struct {
	// Config returns how the user of the given name reaches the API server. It
	// is asked once for each of Users, which InstallRBAC gives their rights.
	Config func(user string) *rest.Config

	// Locations is where the platform can run Instances; NamedLocations("us",
	// "eu") if empty. SetLocations may take them all away later.
	Locations []Location
	// Networking turns on the networking integration: the Network gate and
	// NetworkProvisioning.
	Networking bool
	// Parallel makes all Instances at once and waits for none. By default they
	// are made in order, each when its predecessor is Ready.
	Parallel bool
	// Flavour is the wording of the provider; Kata if empty.
	Flavour Flavour
	// Initial is what the provider makes of an Instance whose state nobody has
	// set: Running if zero; Silent writes nothing.
	Initial State

	// How the three controllers and the provider write statuses. The provider
	// always patches, so its Style is not used.
	Workload, Deployment, Instance, Provider WriterOptions

	// Log receives what the controllers log; nothing is logged if it is zero.
	Log logr.Logger
}

// WriterOptions is how one controller writes.
type WriterOptions struct {
	// FieldManager is the name in managedFields; the user's name if empty.
	FieldManager string
	// Style is StyleUpdate if empty.
	Style Style
}

func (o Options) withDefaults() (Options, error) {
	if o.Config == nil {
		return o, errors.New("platform options: Config is required")
	}
	if o.Locations == nil {
		o.Locations = NamedLocations("us", "eu")
	}
	o.Flavour = cmp.Or(o.Flavour, Kata)
	o.Initial = cmp.Or(o.Initial, Running)
	if o.Log.GetSink() == nil {
		// Not logr.Discard, which has no sink either: a manager without a sink
		// falls back to its process-wide logger.
		o.Log = logr.FromSlogHandler(slog.DiscardHandler)
	}
	return o, nil
}
