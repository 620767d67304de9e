package platform

import (
	"context"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Style is how a controller sends a status.
type Style string

const (
	// StyleUpdate sends the whole object back, with the version that was read.
	// It is the default and what the platform's controllers do.
	StyleUpdate Style = "Update"
	// StylePatch sends a JSON merge patch of what differs, with the version
	// that was read. Lists are atomic, so one changed condition sends them all.
	StylePatch Style = "Patch"
	// StyleBlindPatch is StylePatch without the version: it may overwrite what
	// it never saw.
	StyleBlindPatch Style = "BlindPatch"
)

// Writes counts the status writes of one controller.
type Writes struct {
	// Calls were sent to the API server.
	Calls int64
	// Stored were accepted and moved the resourceVersion. A blind patch also
	// counts when another writer moved it since the cache was read.
	Stored int64
	// Conflicts were answered 409.
	Conflicts int64
}

// statusWriter sends statuses in one style and counts them.
type statusWriter struct {
	client client.Client
	style  Style

	calls, stored, conflicts, slowest atomic.Int64
}

// write sends the status of obj, which was read as base.
func (w *statusWriter) write(ctx context.Context, obj, base client.Object) error {
	switch w.style {
	case StylePatch:
		return w.patch(ctx, obj, base, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	case StyleBlindPatch:
		return w.patch(ctx, obj, base, client.MergeFrom(base))
	default:
		return w.count(obj, base, func() error { return w.client.Status().Update(ctx, obj) })
	}
}

// patch sends one given patch of the status of obj.
func (w *statusWriter) patch(ctx context.Context, obj, base client.Object, patch client.Patch) error {
	return w.count(obj, base, func() error { return w.client.Status().Patch(ctx, obj, patch) })
}

func (w *statusWriter) count(obj, base client.Object, send func() error) error {
	began := time.Now()
	err := send()
	for took := int64(time.Since(began)); ; {
		most := w.slowest.Load()
		if took <= most || w.slowest.CompareAndSwap(most, took) {
			break
		}
	}
	switch {
	case apierrors.IsConflict(err):
		w.conflicts.Add(1)
	case err == nil && obj.GetResourceVersion() != base.GetResourceVersion():
		w.stored.Add(1)
	}
	w.calls.Add(1) // last, so that who sees the call sees what came of it
	return err
}

func (w *statusWriter) writes() Writes {
	return Writes{Calls: w.calls.Load(), Stored: w.stored.Load(), Conflicts: w.conflicts.Load()}
}
