package platform

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// ErrNotRunnable is returned by Provider.Set for an Instance of which the
// provider may not write anything: one that has gates, is suspended, was denied
// quota or is being deleted. The state is kept and written when it may be.
var ErrNotRunnable = errors.New("the provider may not run this instance yet")

// Provider runs Instances, or rather says so (section 6). It writes Programmed,
// Available and the echoed template hash, only when one of them changes, by a
// JSON merge patch with the version it read. Lists are atomic, so the patch
// carries all conditions as it read them.
type Provider struct {
	*Controller
	flavour Flavour
	initial State
	states  *answers[stateOf]
}

// stateOf is a state and the one Instance that has it; without a UID it is the
// state of all that are created.
type stateOf struct {
	uid   types.UID
	state State
}

func newProvider(o Options) (*Provider, error) {
	base, err := newController(o, ProviderUser, o.Provider)
	if err != nil {
		return nil, err
	}
	p := &Provider{Controller: base, flavour: o.Flavour, initial: o.Initial, states: &answers[stateOf]{}}
	return p, p.complete(p.build("provider").For(&computeapi.Instance{}), p.reconcile, &computeapi.Instance{})
}

// Set changes the state of an Instance and writes it, even while the provider
// is paused. When it returns, so has the write: whatever the API server does in
// the same request is done. An Instance that is made anew under the same name
// starts from the initial state again.
//
// A key without a name sets the state of all Instances of a namespace that have
// none of their own, the zero key that of all; those are written as the provider
// gets to them.
func (p *Provider) Set(ctx context.Context, key types.NamespacedName, state State) error {
	if key.Name == "" {
		p.states.put(key, stateOf{state: state})
		return p.enqueueAll(ctx, &computeapi.InstanceList{})
	}
	var instance computeapi.Instance
	if err := p.live.Get(ctx, key, &instance); err != nil {
		return fmt.Errorf("reading instance %q: %w", key, err)
	}
	p.states.put(key, stateOf{instance.UID, state})
	return p.write(ctx, p.live, key)
}

// Forget takes back what Set said: at its next event the Instance goes back to
// the state of its namespace, or to the initial one.
func (p *Provider) Forget(key types.NamespacedName) { p.states.put(key, stateOf{}) }

// state returns the state of an Instance that was read.
func (p *Provider) state(instance *computeapi.Instance) State {
	key := client.ObjectKeyFromObject(instance)
	known := p.states.get(key, stateOf{})
	if known.uid != "" && known.uid != instance.UID {
		// Of a predecessor: fall back to what holds for its namespace.
		known = p.states.get(types.NamespacedName{Namespace: key.Namespace}, stateOf{})
	}
	return cmp.Or(known.state, p.initial)
}

func (p *Provider) reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	err := p.write(ctx, p.client, request.NamespacedName)
	if errors.Is(err, ErrNotRunnable) {
		err = nil // the event that makes it runnable brings it back
	}
	return reconcile.Result{}, client.IgnoreNotFound(err)
}

// write brings an Instance's status up to its state. A conflict is retried at
// once, with the Instance as it is stored now.
func (p *Provider) write(ctx context.Context, from client.Reader, key types.NamespacedName) error {
	for {
		err := p.tryWrite(ctx, from, key)
		if !apierrors.IsConflict(err) {
			return err
		}
		from = p.live
	}
}

func (p *Provider) tryWrite(ctx context.Context, from client.Reader, key types.NamespacedName) error {
	var instance computeapi.Instance
	if err := from.Get(ctx, key, &instance); err != nil {
		return fmt.Errorf("reading instance %q: %w", key, err)
	}
	// The state is looked up after the Instance was read: a write of an older
	// state then meets the newer one's version and conflicts.
	state := p.state(&instance)
	if state.Kind == Silent.Kind {
		return nil
	}
	if !runnable(&instance) {
		return fmt.Errorf("instance %q: %w", key, ErrNotRunnable)
	}

	stored := instance.DeepCopy()
	report := p.flavour.words(state, &instance)
	conditions := &instance.Status.Conditions
	report.programmed.set(conditions, computeapi.ProgrammedCondition, instance.Generation)
	report.available.set(conditions, computeapi.AvailableCondition, instance.Generation)
	if report.echo {
		instance.Status.Controller = &computeapi.InstanceStatusControl{ObservedTemplateHash: instance.Spec.Controller.TemplateHash}
	}
	if equality.Semantic.DeepEqual(stored.Status, instance.Status) {
		return nil
	}
	return p.status.patch(ctx, &instance, stored, client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{}))
}

// runnable tells whether a Pod of the Instance may exist. Denied quota is left
// to the instance controller, which would take back whatever is written.
func runnable(instance *computeapi.Instance) bool {
	quota := verdictOf(computeapi.Condition(instance.Status.Conditions, computeapi.QuotaGrantedCondition))
	return instance.DeletionTimestamp.IsZero() && !instance.Status.Suspended &&
		instance.Spec.Controller != nil && len(instance.Gates()) == 0 &&
		instance.Spec.Runtime.Sandbox != nil && quota.Status != metav1.ConditionFalse
}
