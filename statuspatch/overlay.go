package statuspatch

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/go-logr/logr"
	"gomodules.xyz/jsonpatch/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// overlay is the mutating webhook on the status of both parents: the same
// roll-up over what any other writer is about to store. Where that leaves
// nothing to store, the write becomes a true no-op and wakes nobody.
type overlay struct {
	ledger        *ledger.Ledger
	replicasReady bool
	degraded      bool
	// user is Causeway itself, whose writes are right already.
	user    string
	now     func() time.Time
	metrics *metrics
	log     logr.Logger
}

// correct answers a review with the corrections one kind needs.
func (o *overlay) correct(ctx context.Context, req admission.Request, kind ledger.Kind, corrections func(old, incoming []byte) ([]correction, error)) (admission.Response, outcome) {
	if req.UserInfo.Username == o.user {
		return admission.Allowed(""), outcomeUnchanged
	}
	_, span := startSpan(ctx, spanRollUp)
	found, err := corrections(req.OldObject.Raw, req.Object.Raw)
	endSpan(span, err)
	if err != nil {
		o.log.Error(err, "A parent's status could not be read; it passes as it is")
		return admission.Allowed(""), outcomeUndecodable
	}
	_, span = startSpan(ctx, spanMakePatch)
	patches, err := overlayPatch(req.OldObject.Raw, req.Object.Raw, found)
	endSpan(span, err)
	if err != nil {
		o.log.Error(err, "A parent's status could not be corrected; it passes as it is")
		return admission.Allowed(""), outcomeUndecodable
	}
	if len(patches) == 0 {
		return admission.Allowed(""), outcomeUnchanged
	}
	response := admission.Allowed("")
	response.Patches = patches
	if req.DryRun == nil || !*req.DryRun {
		o.metrics.write(kind, causeOverlay, silenceIn(found))
	}
	return response, outcomeApplied
}

func (o *overlay) deployment(ctx context.Context, req admission.Request) (admission.Response, outcome) {
	return o.correct(ctx, req, ledger.KindDeployment, o.deploymentCorrections)
}

func (o *overlay) workload(ctx context.Context, req admission.Request) (admission.Response, outcome) {
	return o.correct(ctx, req, ledger.KindWorkload, o.workloadCorrections)
}

func (o *overlay) deploymentCorrections(oldRaw, incomingRaw []byte) ([]correction, error) {
	old, incoming, err := decodeBoth(oldRaw, incomingRaw, "WorkloadDeployment", readDeployment)
	if err != nil {
		return nil, err
	}
	o.ledger.RefreshDeployment(old)
	view := o.ledger.Around(incoming)
	in := view.Rollup()
	if incoming.Deleting || incoming.Paused || in.Carried() {
		return nil, nil
	}
	available := rollup.DeploymentAvailable(in)
	var c corrections
	if !heldUp(old.Conditions.Available, incoming.Conditions.Available, available) {
		c.add("", conditionAvailable, old.Conditions.Available, incoming.Conditions.Available, available, o.now())
	}
	if o.replicasReady && incoming.Conditions.ReplicasReady != nil {
		c.add("", conditionReplicasReady, old.Conditions.ReplicasReady, incoming.Conditions.ReplicasReady,
			rollup.DeploymentReplicasReady(in, available), o.now())
	}
	if o.degraded {
		c.add("", conditionDegraded, old.Conditions.Degraded, incoming.Conditions.Degraded,
			rollup.DeploymentDegraded(in, available), o.now())
	}
	return c, nil
}

func (o *overlay) workloadCorrections(oldRaw, incomingRaw []byte) ([]correction, error) {
	old, incoming, err := decodeBoth(oldRaw, incomingRaw, "Workload", readWorkload)
	if err != nil {
		return nil, err
	}
	o.ledger.RefreshWorkload(old)
	if incoming.Deleting || incoming.Paused {
		return nil, nil
	}
	in := o.ledger.AroundWorkload(incoming).Rollup()
	available, placements := rollup.WorkloadAvailable(in)
	var c corrections
	if !heldUp(old.Conditions.Available, incoming.Conditions.Available, available) {
		c.add("", conditionAvailable, old.Conditions.Available, incoming.Conditions.Available, available, o.now())
	}
	if o.degraded {
		c.add("", conditionDegraded, old.Conditions.Degraded, incoming.Conditions.Degraded,
			rollup.WorkloadDegraded(in, available), o.now())
	}
	stored := make(map[string]*ledger.Condition, len(old.Placements))
	for _, p := range old.Placements {
		stored[p.Name] = p.Conditions.Available
	}
	for i, p := range incoming.Placements {
		if !heldUp(stored[p.Name], p.Conditions.Available, placements[i]) {
			c.add(p.Name, conditionAvailable, stored[p.Name], p.Conditions.Available, placements[i], o.now())
		}
	}
	return c, nil
}

// heldUp: the overlay never turns an incoming True over a stored True into
// False. Its view may be a moment behind, and the loop, which looks at the
// Instances live, takes down what must go down.
func heldUp(stored, incoming *ledger.Condition, v rollup.Verdict) bool {
	return v.Status == metav1.ConditionFalse &&
		stored != nil && stored.Status == metav1.ConditionTrue &&
		incoming != nil && incoming.Status == metav1.ConditionTrue
}

// correction is a condition as it has to be, on the object itself or, where a
// name is given, on that placement.
type correction struct {
	placement string
	condition metav1.Condition
}

type corrections []correction

func (c *corrections) add(placement, conditionType string, stored, incoming *ledger.Condition, v rollup.Verdict, now time.Time) {
	*c = append(*c, correction{placement, rollup.Settle(stored.Value(), incoming.Value(), conditionType, v, now)})
}

// silenceIn is the silenceOf an object's own Available, where that is corrected.
func silenceIn(found []correction) silence {
	for _, c := range found {
		if c.placement == "" && c.condition.Type == conditionAvailable {
			return silenceOf(c.condition.Status, c.condition.Reason)
		}
	}
	return ""
}

func decodeBoth[O any, V any](oldRaw, incomingRaw []byte, kind string, read func(*O) *V) (old, incoming *V, err error) {
	if old, err = decode(oldRaw, kind, read); err != nil {
		return nil, nil, fmt.Errorf("decoding oldObject: %w", err)
	}
	if incoming, err = decode(incomingRaw, kind, read); err != nil {
		return nil, nil, fmt.Errorf("decoding object: %w", err)
	}
	return old, incoming, nil
}

func decode[O any, V any](raw []byte, kind string, read func(*O) *V) (*V, error) {
	var meta metav1.TypeMeta
	if err := unmarshal(raw, &meta); err != nil {
		return nil, err
	}
	if meta.Kind != kind {
		return nil, fmt.Errorf("it is %s, not a %s", meta.GroupVersionKind(), kind)
	}
	o := new(O)
	if err := unmarshal(raw, o); err != nil {
		return nil, err
	}
	return read(o), nil
}

// overlayPatch makes the JSON Patch that puts the corrections into the incoming
// object. If the whole status then equals the stored one, the managed fields
// are restored too: else an atomic list would change its owner between two
// field managers, and a write that says nothing new would be stored and wake
// every watcher.
func overlayPatch(oldRaw, incomingRaw []byte, found []correction) ([]jsonpatch.Operation, error) {
	old, err := decodeTree(oldRaw)
	if err != nil {
		return nil, fmt.Errorf("decoding oldObject: %w", err)
	}
	incoming, err := decodeTree(incomingRaw)
	if err != nil {
		return nil, fmt.Errorf("decoding object: %w", err)
	}
	if incoming.status == nil {
		return nil, nil
	}
	before, err := decodeTree(incomingRaw)
	if err != nil {
		return nil, fmt.Errorf("decoding object: %w", err)
	}
	for _, c := range found {
		if err := incoming.apply(c, old); err != nil {
			return nil, err
		}
	}
	var patches []jsonpatch.Operation
	for _, member := range []string{"conditions", "placements"} {
		if !reflect.DeepEqual(before.status[member], incoming.status[member]) {
			patches = append(patches, jsonpatch.NewOperation("add", "/status/"+member, incoming.status[member]))
		}
	}
	if reflect.DeepEqual(old.status, incoming.status) && old.managedFields != nil &&
		!reflect.DeepEqual(old.managedFields, incoming.managedFields) {
		patches = append(patches, jsonpatch.NewOperation("add", "/metadata/managedFields", old.managedFields))
	}
	return patches, nil
}

var errNoPlacement = errors.New("the placement to correct is not in the object")
