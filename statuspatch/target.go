package statuspatch

import (
	"context"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// target is one parent under way in a commit: the newer of what the ledger
// knows and what this commit has read itself. By the watch alone a writer
// conflicts with its own last write.
type target interface {
	plan(ctx context.Context, why cause) (plan, error)
	patch(ctx context.Context, patch []byte) error
	refresh(ctx context.Context) error
}

func (w *writer) target(p ledger.Parent) target {
	if p.Kind == ledger.KindDeployment {
		return &deploymentTarget{writer: w, parent: p}
	}
	return &workloadTarget{writer: w, parent: p}
}

type deploymentTarget struct {
	*writer
	parent ledger.Parent
	live   *ledger.Deployment
}

func (t *deploymentTarget) plan(ctx context.Context, why cause) (plan, error) {
	view, ok := t.ledger.Deployment(t.parent.UID)
	if !ok && t.live == nil {
		if err := t.refresh(ctx); err != nil {
			return plan{}, err
		}
	}
	if t.live != nil && (!ok || ledger.Newer(t.live.ResourceVersion, view.ResourceVersion)) {
		view = t.ledger.Around(t.live)
	}
	return planDeployment(view, why, t.replicasReady, t.degraded, t.now()), nil
}

func (t *deploymentTarget) patch(ctx context.Context, patch []byte) error {
	answer, err := t.api.patchDeployment(ctx, t.parent, patch)
	if err == nil {
		t.ledger.RefreshDeployment(answer)
	}
	return err
}

func (t *deploymentTarget) refresh(ctx context.Context) (err error) {
	if t.live, err = t.api.deployment(ctx, t.parent); err == nil {
		t.ledger.RefreshDeployment(t.live)
	}
	return err
}

type workloadTarget struct {
	*writer
	parent ledger.Parent
	live   *ledger.Workload
}

func (t *workloadTarget) plan(ctx context.Context, _ cause) (plan, error) {
	view, ok := t.ledger.Workload(t.parent.UID)
	if !ok && t.live == nil {
		if err := t.refresh(ctx); err != nil {
			return plan{}, err
		}
	}
	if t.live != nil && (!ok || ledger.Newer(t.live.ResourceVersion, view.ResourceVersion)) {
		view = t.ledger.AroundWorkload(t.live)
	}
	return planWorkload(view, t.degraded, t.now()), nil
}

func (t *workloadTarget) patch(ctx context.Context, patch []byte) error {
	answer, err := t.api.patchWorkload(ctx, t.parent, patch)
	if err == nil {
		t.ledger.RefreshWorkload(answer)
	}
	return err
}

func (t *workloadTarget) refresh(ctx context.Context) (err error) {
	if t.live, err = t.api.workload(ctx, t.parent); err == nil {
		t.ledger.RefreshWorkload(t.live)
	}
	return err
}
