package statuspatch

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// availability is what a condition Available says.
type availability struct {
	status          metav1.ConditionStatus
	reason, message string
}

func availabilityOf(c *ledger.Condition) availability {
	if c == nil {
		return availability{}
	}
	return availability{c.Status, c.Reason, c.Message}
}

// failure is the reason if it is a failure worth an event, else
// empty: what the platform is still working on passes by itself.
func (a availability) failure() string {
	if a.status == metav1.ConditionFalse && reason.RankOf(a.reason) >= reason.Data {
		return reason.Canonical(a.reason)
	}
	return ""
}

// told is what was told of one parent.
type told struct {
	// failure is the reason that was told last, empty since it was told to be
	// over, or if there was none.
	failure string
	at      time.Time
	// seen is what is stored; its status and failure have been so since.
	seen  availability
	since time.Time
}

// news is one event.
type news struct{ eventType, reason, note string }

// news is what the stored answer adds to what was told; ok is false if that is
// nothing. A failure that is neither there any more nor over, since the answer
// is "not yet", may come back and was told.
func (t *told) news() (n news, ok bool) {
	switch failure := t.seen.failure(); {
	case failure == t.failure:
		return news{}, false
	case failure != "":
		return news{corev1.EventTypeWarning, failure, t.seen.message}, true
	case t.seen.status == metav1.ConditionTrue:
		return news{corev1.EventTypeNormal, t.seen.reason, t.seen.message}, true
	default:
		return news{}, false
	}
}
