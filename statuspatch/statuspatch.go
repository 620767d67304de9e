package statuspatch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/podstore"
)

const (
	// DefaultBudget is how long one Instance review may take at most.
	DefaultBudget = 2 * time.Second

	// commitTimeout bounds one write of a parent. It is more than a review's
	// budget, so that a review that gave up still finds its work done, and with
	// retryMax less than the promise of 5 s after a fault: a write that hangs is
	// given up and tried again within that.
	commitTimeout = 3 * time.Second

	// probeEvery is how often a plane without Workloads is asked for them.
	probeEvery = time.Minute

	// drainTimeout bounds how long a hand-over waits for reviews under way:
	// longer than any of them may take.
	drainTimeout = 3 * time.Second
)

// Options say what a Sidecar works on. Config, LeaseNamespace, LeaseName and
// Identity are required.
type Options struct {
	// Config reaches the one control plane of this process.
	Config *rest.Config
	// Overlay answers the parents' status webhooks; without it they are served
	// and correct nothing.
	Overlay bool
	// ReplicasReady keeps a deployment's ReplicasReady too.
	ReplicasReady bool
	// Degraded keeps a condition Degraded on both parents; without it, one that
	// was kept before is taken away.
	Degraded bool
	// RepairLoop repairs what the requests could not. It is there to be turned
	// off in tests.
	RepairLoop bool
	// Budget is how long one review may take at most; 0 means DefaultBudget.
	Budget time.Duration
	// ObservePods has the Pods behind Instances looked at, those with the labels
	// of PodSelector where it is set. StartGrace and ScheduleGrace are those of
	// package podstate; 0 means its defaults.
	ObservePods               bool
	PodSelector               string
	StartGrace, ScheduleGrace time.Duration
	// DefaultGrants, where it is set and Pods are observed, has a Workload that is
	// down because its containers crash at start-up say which capabilities they
	// lack of those that their class grants by default. It must not block; after
	// each change of what it answers call ClassesChanged.
	DefaultGrants podstore.DefaultGrants
	// LeaseNamespace and LeaseName name the Lease; Identity names this process
	// in it, and must be unique.
	LeaseNamespace, LeaseName, Identity string
	// EndpointSlice is the slice that shows the way to the active process; zero
	// where something else does.
	EndpointSlice types.NamespacedName
	// AdvertiseAddress is this process's IP address in the slice.
	AdvertiseAddress string
	// Registerer takes the metrics; nil takes none.
	Registerer prometheus.Registerer
	Logger     logr.Logger
}

func (o Options) validate() error {
	var errs []error
	if o.Config == nil {
		errs = append(errs, errors.New("no connection to a control plane is configured"))
	}
	if o.LeaseNamespace == "" || o.LeaseName == "" {
		errs = append(errs, errors.New("the lease needs a namespace and a name"))
	}
	if o.Identity == "" {
		errs = append(errs, errors.New("the process needs an identity to hold a lease"))
	}
	if o.Budget < 0 {
		errs = append(errs, fmt.Errorf("the status budget is %s, but must not be negative", o.Budget))
	}
	if o.EndpointSlice.Name != "" && o.AdvertiseAddress == "" {
		errs = append(errs, fmt.Errorf("an address to advertise is needed to keep EndpointSlice %s", o.EndpointSlice))
	}
	return errors.Join(errs...)
}

// Sidecar is the status-patching process.
type Sidecar struct {
	api       *api
	ledger    *ledger.Ledger
	tenure    *tenure
	writer    *writer
	shell     *shell
	instances *instances
	overlay   *overlay
	loop      *loop
	settler   *settler
	announcer *announcer
	recorder  *recorder
	pods      *pods // nil unless Pods are observed
	election  *election
	endpoints *endpoints
	log       logr.Logger

	repairLoop, overlayOn bool

	sources      []*source
	workloads    *source
	hasWorkloads atomic.Bool
	draining     atomic.Bool

	stop context.CancelFunc
}

// New asks the API server who this process is and whether the API is there,
// which warms the connection, and wires the parts. The error is one line that
// says what to do.
func New(ctx context.Context, o Options) (*Sidecar, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	a, err := newAPI(o.Config)
	if err != nil {
		return nil, err
	}
	user, err := a.user(ctx)
	if err != nil {
		return nil, err
	}
	served, err := a.served(ctx)
	if err != nil {
		return nil, err
	}
	for _, needed := range []string{resourceInstances, resourceDeployments} {
		if !served[needed] {
			return nil, fmt.Errorf("the control plane does not serve %s.%s: install the compute API's CRDs first",
				needed, groupVersion.Group)
		}
	}

	s := &Sidecar{
		api:        a,
		tenure:     newTenure(time.Now),
		endpoints:  &endpoints{core: a.lease, slice: o.EndpointSlice, address: o.AdvertiseAddress},
		log:        o.Logger,
		repairLoop: o.RepairLoop,
		overlayOn:  o.Overlay,
	}
	s.hasWorkloads.Store(served[resourceWorkloads])
	s.ledger = ledger.New(func(p ledger.Parent) { s.loop.add(p); s.announcer.add(p) })
	writing, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.writer = &writer{
		api: a, ledger: s.ledger, tenure: s.tenure, metrics: m,
		replicasReady: o.ReplicasReady, degraded: o.Degraded, now: time.Now, timeout: commitTimeout, ctx: writing, log: o.Logger.WithName("writer"),
		lines: map[ledger.Parent]*line{},
	}
	s.loop = &loop{
		ledger: s.ledger, writer: s.writer, tenure: s.tenure, metrics: m,
		replicasReady: o.ReplicasReady, degraded: o.Degraded, now: time.Now, log: o.Logger.WithName("loop"),
		queue: newQueue[ledger.Parent]("causeway_repair"),
	}
	s.settler = &settler{
		api: a, ledger: s.ledger, metrics: m, now: time.Now, log: o.Logger.WithName("settler"),
		queue: newQueue[types.NamespacedName]("causeway_settle"),
	}
	s.recorder = newRecorder(a.core, o.Logger.WithName("events"))
	s.announcer = newAnnouncer(s.ledger, s.tenure, s.loop.plan, s.recorder.record)
	s.shell = &shell{tenure: s.tenure, metrics: m, budget: o.Budget, log: o.Logger.WithName("review")}
	s.instances = &instances{
		ledger: s.ledger, writer: s.writer, metrics: m, now: time.Now, log: o.Logger.WithName("instances"),
		hasWorkloads: s.hasWorkloads.Load, settle: s.settler.add, repair: s.loop.addDeferred,
	}
	s.overlay = &overlay{
		ledger: s.ledger, replicasReady: o.ReplicasReady, degraded: o.Degraded, user: user, now: time.Now, metrics: m,
		log: o.Logger.WithName("overlay"),
	}
	s.election = &election{
		core: a.lease, namespace: o.LeaseNamespace, name: o.LeaseName, identity: o.Identity,
		tenure: s.tenure, log: o.Logger.WithName("election"), takeOver: s.takeOver, done: make(chan struct{}),
	}
	i, d, w := newSources(s.ledger)
	d.begun = func() { s.announcer.begin(ledger.KindDeployment) }
	w.begun = func() { s.announcer.begin(ledger.KindWorkload) }
	s.sources, s.workloads = []*source{i, d}, w
	if o.ObservePods {
		if s.pods, err = newPods(a, s.tenure, user, s.ledger, o); err != nil {
			return nil, err
		}
		s.pods.follow(i)
	}
	if o.Registerer != nil {
		if err := o.Registerer.Register(s.state(i, d, w)); err != nil {
			return nil, fmt.Errorf("registering metrics: %w", err)
		}
	}
	return s, nil
}

// state collects the metrics of what holds now.
func (s *Sidecar) state(sources ...*source) *state {
	state := newState(s.ledger, s.tenure, time.Now)
	for _, source := range sources {
		state.follow(source.resource, &source.freshness)
	}
	if s.pods != nil {
		state.follow(resourcePods, &s.pods.source.freshness)
	}
	return state
}

// Register serves the webhooks.
func (s *Sidecar) Register(mux *http.ServeMux) {
	mux.Handle(PathInstances, s.shell.handler(hookInstances, s.instances.review))
	deployments, workloads := s.overlay.deployment, s.overlay.workload
	if !s.overlayOn {
		deployments, workloads = pass, pass
	}
	mux.Handle(PathDeployments, s.shell.handler(hookDeployments, deployments))
	mux.Handle(PathWorkloads, s.shell.handler(hookWorkloads, workloads))
	if s.pods != nil {
		mux.Handle(PathPods, s.shell.handler(hookPods, s.pods.review))
	}
}

// Run watches, competes for the lease and, while it is held, repairs. It
// returns nil once ctx has ended, and an error when the lease was lost: then
// the process must end, for it no longer knows who writes.
func (s *Sidecar) Run(ctx context.Context) error {
	defer s.writer.close()
	defer s.stop()
	group, ctx := errgroup.WithContext(ctx)
	run := func(part func(context.Context)) {
		group.Go(func() error { part(ctx); return nil })
	}
	for _, source := range s.sources {
		run(func(ctx context.Context) { source.run(ctx, s.api, s.log.WithName("watch")) })
	}
	run(s.watchWorkloads)
	run(s.settler.run)
	run(s.announcer.run)
	run(func(ctx context.Context) { s.recorder.run(ctx, s.log.WithName("events")) })
	if s.pods != nil {
		run(s.pods.run)
	}
	if s.repairLoop {
		run(s.loop.run)
	}
	group.Go(func() error { return s.election.run(ctx) })
	return group.Wait()
}

// watchWorkloads watches Workloads as soon as the plane has them.
func (s *Sidecar) watchWorkloads(ctx context.Context) {
	probe := time.NewTicker(probeEvery)
	defer probe.Stop()
	for !s.hasWorkloads.Load() {
		select {
		case <-ctx.Done():
			return
		case <-probe.C:
		}
		served, err := s.api.served(ctx)
		if err != nil {
			s.log.Info("Could not ask whether this control plane has Workloads by now", "reason", err.Error())
		}
		s.hasWorkloads.Store(served[resourceWorkloads])
	}
	s.workloads.run(ctx, s.api, s.log.WithName("watch"))
}

// takeOver is called when the lease is won: the way to this process first, then
// every parent. The way may fail to be published; the lease is held all the
// same, so the parents do not wait for a second try.
func (s *Sidecar) takeOver(ctx context.Context) {
	s.log.Info("This process is the active one now")
	first := true
	_ = wait.PollUntilContextCancel(ctx, retryMax, true, func(ctx context.Context) (bool, error) {
		trying, cancel := context.WithTimeout(ctx, retryMax)
		defer cancel()
		err := s.endpoints.enter(trying)
		if err != nil {
			s.log.Error(err, "The way to this process could not be published; trying again")
		}
		if first {
			s.loop.addAll()
			if s.pods != nil {
				s.pods.addAll()
			}
			first = false
		}
		return err == nil, nil
	})
}

// pass leaves a parent's status as it comes.
func pass(context.Context, admission.Request) (admission.Response, outcome) {
	return admission.Allowed(""), outcomeUnchanged
}

// Ready tells whether the watches are synced; the connection is warm by then.
func (s *Sidecar) Ready() error {
	for _, source := range s.sources {
		if !source.synced.Load() {
			return fmt.Errorf("the watch of %s has not synced yet", source.resource)
		}
	}
	if s.hasWorkloads.Load() && !s.workloads.synced.Load() {
		return fmt.Errorf("the watch of %s has not synced yet", resourceWorkloads)
	}
	if s.pods != nil && !s.pods.source.synced.Load() {
		return errors.New("the watch of pods has not synced yet")
	}
	return nil
}

// ClassesChanged has all hints about capabilities looked at anew.
func (s *Sidecar) ClassesChanged() {
	if s.pods != nil {
		s.pods.addAll()
	}
}

// Active tells whether reviews should come to this process: it is the one that
// answers and writes, and it is not handing over.
func (s *Sidecar) Active() bool { return s.tenure.active() && !s.draining.Load() }

// Drain hands over: it leaves the slice, lets the reviews under way finish,
// waits a second for what is on its way to the API server, and gives the lease
// back. Call it after readiness has failed and before the listener closes.
func (s *Sidecar) Drain(ctx context.Context) {
	s.draining.Store(true)
	if s.tenure.active() {
		if err := s.endpoints.leave(ctx); err != nil {
			s.log.Error(err, "The way to this process could not be withdrawn")
		}
		waiting, cancel := context.WithTimeout(ctx, drainTimeout)
		s.shell.reviews.wait(waiting)
		cancel()
		_ = pause(ctx, handoverPause)
	}
	s.election.resign(ctx)
}
