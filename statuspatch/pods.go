package statuspatch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/podstate"
	"github.com/causeway-webhook/causeway/statuspatch/podstore"
)

const (
	// podWorkers bounds how many Instance patches are under way: each waits for
	// its own review, and that for two writes of parents.
	podWorkers = 4
	// podPatchTimeout bounds one of them: a review's budget and the patch.
	podPatchTimeout = 4 * time.Second
)

// pods makes Instances say what their Pods prove. Like the loop it is
// level-triggered and writes only while this process is the active one; its
// patches go through the webhooks of this very process like anybody's, which
// carries the reason up before a patch returns.
type pods struct {
	api    *api
	store  *podstore.Store
	tenure *tenure
	// user is Causeway itself, whose Instance patches are right already.
	user   string
	now    func() time.Time
	log    logr.Logger
	queue  workqueue.TypedRateLimitingInterface[types.NamespacedName]
	source *podSource
	writes map[podstate.Standing]prometheus.Counter
	// ledger is told what crashing containers lack, and grants asked what that
	// is; nil unless a hint is asked for.
	ledger *ledger.Ledger
	grants podstore.DefaultGrants
}

func newPods(a *api, t *tenure, user string, l *ledger.Ledger, o Options) (*pods, error) {
	writes, err := newInstanceWrites(o.Registerer)
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	p := &pods{
		api: a, tenure: t, user: user, now: time.Now, log: o.Logger.WithName("pods"),
		ledger: l, grants: o.DefaultGrants,
		queue:  newQueue[types.NamespacedName]("causeway_pods"),
		writes: writes,
	}
	p.store = podstore.New(podstate.Options{StartGrace: o.StartGrace, ScheduleGrace: o.ScheduleGrace}, time.Now, p.add)
	p.source = &podSource{store: p.store, selector: o.PodSelector}
	return p, nil
}

// add has an Instance looked at. A standby looks at none, whoever takes over
// looks at all of them; but it keeps its ledger warm, and so the hints in it.
func (p *pods) add(name types.NamespacedName) {
	if p.tenure.held() || p.grants != nil {
		p.queue.Add(name)
	}
}

func (p *pods) addAll() {
	for _, name := range p.store.Names() {
		p.queue.Add(name)
	}
}

// run watches and works until ctx ends.
func (p *pods) run(ctx context.Context) {
	var group sync.WaitGroup
	group.Go(func() { p.source.run(ctx, p.api, p.log.WithName("watch")) })
	for range podWorkers {
		group.Go(func() {
			for p.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	p.queue.ShutDown()
	group.Wait()
}

func (p *pods) next(ctx context.Context) bool {
	name, shutdown := p.queue.Get()
	if shutdown {
		return false
	}
	defer p.queue.Done(name)
	defer func() {
		// One Pod that cannot be judged must not end the observation of all others.
		if r := recover(); r != nil {
			p.log.Error(fmt.Errorf("panic: %v", r), "A Pod could not be judged", "Pod", klog.KRef(name.Namespace, name.Name))
			p.queue.AddAfter(name, time.Minute)
		}
	}()
	// First, so that the patch of a crash carries up the hint on it too.
	p.hint(name)
	if p.tenure.held() {
		p.look(ctx, name)
	}
	return true
}

// hint has the ledger know which containers of an Instance crash at start-up and
// what they lack.
func (p *pods) hint(name types.NamespacedName) {
	if p.grants == nil {
		return
	}
	uid, lacks, until := p.store.Lacks(name, p.grants)
	p.ledger.ObserveLacks(name, uid, lacks)
	p.again(name, until)
}

// again has an Instance looked at when the passing of time may have changed
// something; never, for a zero time.
func (p *pods) again(name types.NamespacedName, at time.Time) {
	if !at.IsZero() {
		p.queue.AddAfter(name, max(0, at.Sub(p.now()))+time.Millisecond)
	}
}

// look patches one Instance where its Pod proves it wrong.
func (p *pods) look(ctx context.Context, name types.NamespacedName) {
	d, ok := p.store.Decide(name)
	if !ok {
		p.queue.Forget(name)
		return
	}
	p.again(name, d.Verdict.Until)
	// A list that was never written gets its first condition from somebody else.
	if !d.Correction.Changes || !d.Instance.Conditions.Listed {
		p.queue.Forget(name)
		return
	}
	if wait := p.tenure.untilTakeDown(); wait > 0 {
		p.queue.AddAfter(name, wait)
		return
	}
	if !p.tenure.active() {
		p.queue.AddRateLimited(name)
		return
	}
	err := p.patch(ctx, d)
	switch {
	case err == nil, apierrors.IsNotFound(err):
		p.queue.Forget(name)
	default:
		if ctx.Err() == nil && !apierrors.IsConflict(err) {
			p.log.Info("An Instance could not be patched; trying again", "Instance", klog.KRef(name.Namespace, name.Name), "reason", err.Error())
		}
		p.queue.AddRateLimited(name)
	}
}

func (p *pods) patch(ctx context.Context, d podstore.Decision) error {
	patch, err := encodePatch(d.Instance.ResourceVersion, instanceOperations(d))
	if err != nil {
		return fmt.Errorf("encoding the patch of Instance %s: %w", d.Instance.NamespacedName, err)
	}
	ctx, cancel := context.WithTimeout(ctx, podPatchTimeout)
	defer cancel()
	stored, err := p.api.patchInstance(ctx, d.Instance.NamespacedName, patch)
	if err != nil {
		return err
	}
	p.writes[d.Verdict.Standing].Inc()
	p.log.V(1).Info("Patched an Instance", "Instance", klog.KRef(d.Instance.Namespace, d.Instance.Name),
		"status", d.Correction.Condition.Status, "reason", d.Correction.Condition.Reason)
	p.store.ObserveInstance(stored)
	return nil
}

// instanceOperations set the condition Available and nothing else.
func instanceOperations(d podstore.Decision) []operation {
	const at = "/status/conditions"
	if have := d.Instance.Conditions.Available; have != nil {
		return setCondition(at, have, d.Correction.Condition)
	}
	return []operation{addCondition(at, true, d.Correction.Condition)}
}

// patchInstance patches the status of an Instance and answers the version
// stored.
func (a *api) patchInstance(ctx context.Context, name types.NamespacedName, patch []byte) (*podstore.Instance, error) {
	var o instanceObject
	err := a.rest.Patch(types.JSONPatchType).Namespace(name.Namespace).Resource(resourceInstances).Name(name.Name).
		SubResource("status").Param("fieldManager", fieldManager).Body(patch).MaxRetries(0).Do(ctx).Into(&o)
	if err != nil {
		return nil, fmt.Errorf("patching the status of Instance %s: %w", name, err)
	}
	return observedInstance(&o), nil
}

// observedInstance is what the store of Pods keeps of an Instance.
func observedInstance(o *instanceObject) *podstore.Instance {
	var containers []string
	for _, c := range o.Spec.Runtime.Sandbox.Containers {
		containers = append(containers, intern(c.Name))
	}
	return &podstore.Instance{
		Class:           intern(o.Spec.Runtime.Class),
		Containers:      containers,
		NamespacedName:  types.NamespacedName{Namespace: o.Metadata.Namespace, Name: o.Metadata.Name},
		UID:             o.Metadata.UID,
		ResourceVersion: o.Metadata.ResourceVersion,
		Deleting:        o.Metadata.DeletionTimestamp != nil,
		Conditions:      readConditions(o.Status.Conditions),
	}
}
