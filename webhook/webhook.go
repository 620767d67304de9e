package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Options configure New.
type Options struct {
	// Classes lists RuntimeClasses from a cache. Required.
	Classes client.Reader
	// Live reads RuntimeClasses, Workloads and WorkloadDeployments from the API
	// server itself. Required. Its scheme, like that of Classes, comes from
	// AddToScheme.
	Live client.Reader
	// Registerer takes the metrics. Required; it must not know them yet.
	Registerer prometheus.Registerer
	// Mode defaults to ModeEnforce.
	Mode Mode
	// Clock defaults to the system's.
	Clock clock.PassiveClock
}

// Webhook holds the three endpoints, which share their reads of the
// RuntimeClasses.
type Webhook struct {
	reviewers []*reviewer
	metrics   *metrics
}

// New returns the endpoints, or an error that names every option that is wrong.
// It reads nothing and starts nothing.
func New(o Options) (*Webhook, error) {
	if o.Mode == "" {
		o.Mode = ModeEnforce
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	var errs []error
	if o.Classes == nil {
		errs = append(errs, errors.New("a cached reader of runtime classes is required"))
	}
	if o.Live == nil {
		errs = append(errs, errors.New("a live reader is required"))
	}
	if !slices.Contains(Modes, o.Mode) {
		errs = append(errs, fmt.Errorf("mode %q is not one of %q", o.Mode, Modes))
	}
	if o.Registerer == nil {
		errs = append(errs, errors.New("a registerer of metrics is required"))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	reads := &classReads{}
	classes := &sharedRead{live: o.Live, reads: reads, clock: o.Clock, metrics: m}
	w := &Webhook{metrics: m}
	for _, r := range resources {
		w.reviewers = append(w.reviewers, &reviewer{
			resource: r, mode: o.Mode, cached: o.Classes, live: o.Live, reads: reads, classes: classes, metrics: m,
		})
	}
	return w, nil
}

// Handlers returns the endpoints by path, each both an http.Handler and an
// admission.Handler.
func (w *Webhook) Handlers() map[string]Endpoint {
	out := make(map[string]Endpoint, len(w.reviewers))
	for _, r := range w.reviewers {
		out[r.resource.path] = r
	}
	return out
}

// Endpoint answers the reviews of one resource.
type Endpoint interface {
	http.Handler
	admission.Handler
}

// Mux is the part of http.ServeMux that Register needs.
type Mux interface {
	Handle(pattern string, handler http.Handler)
}

// Register puts every endpoint under its path.
func (w *Webhook) Register(mux Mux) {
	for path, h := range w.Handlers() {
		mux.Handle(path, h)
	}
}
