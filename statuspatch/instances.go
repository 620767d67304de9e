package statuspatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// The warnings a writer of an Instance's status may read.
const (
	warnUndecodable = "causeway: the instance's status could not be read, so its deployment and workload were not updated"
	warnDeferred    = "causeway: the deployment and workload could not be updated in time; they follow within seconds"
)

// instances is the status webhook on instances/status. It is validating, so it
// sees the object as it will be stored.
type instances struct {
	ledger  *ledger.Ledger
	writer  *writer
	metrics *metrics
	now     func() time.Time
	log     logr.Logger

	// hasWorkloads tells whether this control plane has Workloads.
	hasWorkloads func() bool
	// settle has the Instance looked at again if it stays pending.
	settle func(*ledger.Instance)
	// repair hands a parent to the loop.
	repair func(ledger.Parent)
}

// review carries a change of an Instance up to its parents, and answers when
// they are stored or the budget is spent.
func (h *instances) review(ctx context.Context, req admission.Request) (admission.Response, outcome) {
	before, after, err := decodeInstances(req)
	if err != nil {
		h.log.Error(err, "An Instance's status could not be read; the write is allowed")
		return warned(warnUndecodable), outcomeUndecodable
	}
	if req.DryRun != nil && *req.DryRun || unchanged(before, after) || after.Deployment.IsZero() {
		return admission.Allowed(""), outcomeUnchanged
	}
	_, span := startSpan(ctx, spanLedger)
	news := h.ledger.Propose(after, before.ResourceVersion, h.now())
	endSpan(span, nil)
	if !news {
		// Somebody else's write is stored already; this one will conflict, and
		// its retry comes by again.
		return admission.Allowed(""), outcomeUnchanged
	}
	h.settle(after)
	if err := h.carryUp(ctx, after); err != nil {
		h.metrics.deferred(deferralOf(err))
		h.log.Info("The parents could not be updated in the request", "Instance", klog.KRef(after.Namespace, after.Name), "reason", err.Error())
		return warned(warnDeferred), outcomeDeferred
	}
	return admission.Allowed(""), outcomeApplied
}

// carryUp has both parents written at the same time. A Workload that does not
// exist is no failure: deployments are copied to planes that have none.
func (h *instances) carryUp(ctx context.Context, i *ledger.Instance) error {
	deployment := h.share(ctx, i.Deployment)
	var missed error
	workload, err := h.workloadOf(ctx, i.Deployment)
	if err == nil && !workload.IsZero() && h.hasWorkloads() {
		missed = h.await(ctx, h.share(ctx, workload))
		if errors.Is(missed, errParentGone) {
			missed = nil
		}
	}
	return errors.Join(h.await(ctx, deployment), missed, err)
}

// await waits for a commit; what it did not do is left to the loop.
func (h *instances) await(ctx context.Context, s share) error {
	err := s.commit.wait(ctx)
	s.end(err)
	if err != nil && !errors.Is(err, errParentGone) {
		h.repair(s.parent)
	}
	return err
}

// workloadOf finds the Workload of a deployment, by a live read where the watch
// has not delivered the deployment yet.
func (h *instances) workloadOf(ctx context.Context, p ledger.Parent) (ledger.Parent, error) {
	if view, ok := h.ledger.Deployment(p.UID); ok {
		return view.Workload, nil
	}
	d, err := h.writer.api.deployment(ctx, p)
	if err != nil {
		return ledger.Parent{}, err
	}
	return d.Workload, nil
}

func deferralOf(err error) deferral {
	switch {
	case errors.Is(err, errBudget), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return deferredBudget
	case errors.Is(err, errNotActive):
		return deferredInactive
	case errors.Is(err, errParentGone):
		return deferredMissing
	default:
		return deferredError
	}
}

func decodeInstances(req admission.Request) (before, after *ledger.Instance, err error) {
	if before, err = decodeInstance(req.OldObject.Raw); err != nil {
		return nil, nil, fmt.Errorf("decoding oldObject: %w", err)
	}
	if after, err = decodeInstance(req.Object.Raw); err != nil {
		return nil, nil, fmt.Errorf("decoding object: %w", err)
	}
	return before, after, nil
}

func decodeInstance(raw []byte) (*ledger.Instance, error) {
	o, err := decodeObject(raw)
	if err != nil {
		return nil, err
	}
	return readInstance(o), nil
}

// unchanged tells that the write makes no difference to any parent.
func unchanged(before, after *ledger.Instance) bool {
	return before.Deployment == after.Deployment && before.Member == after.Member && before.Contribution == after.Contribution
}
