package ledger

import (
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Ledger is safe for use by many goroutines. Create it with New.
type Ledger struct {
	notify func(Parent)

	mu          sync.Mutex
	instances   map[types.NamespacedName]instanceEntry
	deployments map[types.UID]*deploymentEntry
	workloads   map[types.UID]*workloadEntry
	pendings    int // instances with a pending entry
	reported    reported
}

// instanceEntry is what is known of one Instance; the zero value is nothing.
type instanceEntry struct {
	// seen is the newest version the API server was heard to hold, nil for an
	// Instance known from a review only.
	seen    *Instance
	pending *pending
	// lacks is nil for all but the few that lack something.
	lacks *lacks
}

type pending struct {
	*Instance
	// base is the resourceVersion of the oldObject the review spoke of.
	base  string
	since time.Time
}

// effective is what counts: what is about to be stored, else what is.
func (e instanceEntry) effective() *Instance {
	if e.pending != nil {
		return e.pending.Instance
	}
	return e.seen
}

// unsettled is 1 where the Instance is pending, else 0.
func (e instanceEntry) unsettled() int {
	if e.pending != nil {
		return 1
	}
	return 0
}

type deploymentEntry struct {
	// version is nil for a deployment that only its Instances have named.
	version *Deployment
	tally   tally
	// unsettled counts the Instances in the tally that are pending: what a
	// request is about to store, and may yet never be stored.
	unsettled int
}

type workloadEntry struct {
	version     *Workload
	deployments map[types.UID]*deploymentEntry
}

// New makes an empty ledger. notify is called, without any lock held, for each
// parent whose roll-up may have changed; it must not block. It may be nil.
func New(notify func(Parent)) *Ledger {
	if notify == nil {
		notify = func(Parent) {}
	}
	return &Ledger{
		notify:      notify,
		instances:   map[types.NamespacedName]instanceEntry{},
		deployments: map[types.UID]*deploymentEntry{},
		workloads:   map[types.UID]*workloadEntry{},
		reported:    reported{},
	}
}

// Deployment is a snapshot of the deployment of this UID; ok is false where the
// ledger does not hold it.
func (l *Ledger) Deployment(uid types.UID) (view DeploymentView, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.deployments[uid]
	if e == nil || e.version == nil {
		return DeploymentView{}, false
	}
	return DeploymentView{e.version, e.tally.snapshot()}, true
}

// Around is a deployment whose version the caller read itself, with the tally
// the ledger has for it: what there is to go by when the watch is behind.
func (l *Ledger) Around(d *Deployment) DeploymentView {
	l.mu.Lock()
	defer l.mu.Unlock()
	view := DeploymentView{Deployment: d}
	if e := l.deployments[d.UID]; e != nil {
		view.Tally = e.tally.snapshot()
	}
	return view
}

// Workload is a snapshot of the Workload of this UID with its deployments; ok
// is false where the ledger does not hold it.
func (l *Ledger) Workload(uid types.UID) (view WorkloadView, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.workloads[uid]
	if e == nil || e.version == nil {
		return WorkloadView{}, false
	}
	return WorkloadView{e.version, e.snapshot()}, true
}

// AroundWorkload is Around for a Workload.
func (l *Ledger) AroundWorkload(w *Workload) WorkloadView {
	l.mu.Lock()
	defer l.mu.Unlock()
	view := WorkloadView{Workload: w}
	if e := l.workloads[w.UID]; e != nil {
		view.Deployments = e.snapshot()
	}
	return view
}

func (e *workloadEntry) snapshot() []DeploymentView {
	views := make([]DeploymentView, 0, len(e.deployments))
	for _, d := range e.deployments {
		views = append(views, DeploymentView{d.version, d.tally.snapshot()})
	}
	slices.SortFunc(views, func(a, b DeploymentView) int { return strings.Compare(a.Name, b.Name) })
	return views
}

// Parents names every parent whose stored version is known.
func (l *Ledger) Parents() []Parent {
	l.mu.Lock()
	defer l.mu.Unlock()
	parents := make([]Parent, 0, len(l.deployments)+len(l.workloads))
	for _, e := range l.deployments {
		if e.version != nil {
			parents = append(parents, e.version.Parent)
		}
	}
	for _, e := range l.workloads {
		if e.version != nil {
			parents = append(parents, e.version.Parent)
		}
	}
	return parents
}

// Sizes counts what the ledger holds.
type Sizes struct{ Instances, Pending, Deployments, Workloads int }

// Sizes counts what the ledger holds.
func (l *Ledger) Sizes() Sizes {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Sizes{Instances: len(l.instances), Pending: l.pendings, Deployments: len(l.deployments), Workloads: len(l.workloads)}
}
