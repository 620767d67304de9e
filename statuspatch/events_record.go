package statuspatch

import (
	"context"
	"unicode/utf8"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

const (
	// eventAction is what was done when the event came about.
	eventAction = "RollUp"

	// The most that the API takes of a reason and a note, in bytes.
	eventReasonMost = 128
	eventNoteMost   = 1024
)

// recorder writes events in the background. Equal ones on one object become one
// with a count.
type recorder struct {
	broadcaster events.EventBroadcaster
	recorder    events.EventRecorder
}

func newRecorder(core kubernetes.Interface, log logr.Logger) *recorder {
	b := events.NewBroadcaster(&events.EventSinkImpl{Interface: core.EventsV1()})
	// A reference needs no scheme.
	return &recorder{broadcaster: b, recorder: b.NewRecorder(nil, fieldManager).WithLogger(log)}
}

// run writes what is recorded until ctx ends.
func (r *recorder) run(ctx context.Context, log logr.Logger) {
	defer r.broadcaster.Shutdown()
	if err := r.broadcaster.StartRecordingToSinkWithContext(klog.NewContext(ctx, log)); err != nil {
		log.Error(err, "No events will be written")
	}
	<-ctx.Done()
}

// record has an event written on a parent. It does not wait.
func (r *recorder) record(p ledger.Parent, n news) {
	regarding := &corev1.ObjectReference{
		APIVersion: groupVersion.String(), Kind: p.Kind.String(), Namespace: p.Namespace, Name: p.Name, UID: p.UID,
	}
	r.recorder.Eventf(regarding, nil, n.eventType, atMost(n.reason, eventReasonMost), eventAction, "%s", atMost(n.note, eventNoteMost))
}

// atMost cuts a text on a rune and marks that.
func atMost(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit - len("...")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}
