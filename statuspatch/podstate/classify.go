package podstate

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// Classify judges a Pod at a moment. memory is what Observe made of this Pod,
// this version included; without one less is known, and nothing is wrong.
func Classify(pod *corev1.Pod, memory Memory, now time.Time, o Options) Verdict {
	j := judge{pod: pod, memory: memory.of(pod), now: now, options: o}
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		return done.verdict(Container{}, "")
	case allReady(pod) && pod.Status.Phase != corev1.PodFailed:
		return j.running()
	}
	if v := j.wholePod(); v.Rule != "" {
		// Out of memory is the application's own doing whoever ends the Pod.
		if oom := j.outOfMemory(); v.Reason == reason.Disrupted && oom.Standing == Failing {
			return oom
		}
		return v
	}
	if pod.DeletionTimestamp != nil {
		return deleting.verdict(Container{}, "")
	}
	return j.containers()
}

// judge is one look at one Pod.
type judge struct {
	pod     *corev1.Pod
	memory  Memory
	now     time.Time
	options Options
}

// containers is the verdict on the container that explains the others. Init
// containers hold up all that follow them, so the first one in trouble
// explains. Of the others the reason that the customer is told first; then how
// much the end of one says by itself; then the order in the Pod.
func (j *judge) containers() Verdict {
	best, failed := Verdict{}, j.pod.Status.Phase == corev1.PodFailed
	for c := range containersOf(j.pod) {
		v := j.container(c)
		if v.Rule == "" {
			continue
		}
		if better(v, best) {
			v.Until = sooner(v.Until, best.Until)
			best = v
		} else {
			best.Until = sooner(best.Until, v.Until)
		}
		if v.Standing == Failing && (c.Kind == Init || c.Kind == Sidecar && !started(c.status)) {
			break
		}
	}
	if failed && best.Standing != Failing {
		if best.Rule == lostByNode.ID {
			return nodeLost.quoting(Container{}, nodeSays, j.pod.Status.Message)
		}
		return podFailed.quoting(Container{}, nodeSays, j.pod.Status.Message)
	}
	if best.Rule == "" {
		return starting.verdict(Container{}, "")
	}
	return best
}

// better tells whether a explains more than b, which comes before it.
func better(a, b Verdict) bool {
	switch {
	case b.Rule == "":
		return true
	case a.Standing != b.Standing:
		return a.Standing == Failing
	case a.Standing != Failing:
		return a.Certainty > b.Certainty
	}
	if c := reason.Compare(a.Reason, b.Reason); c != 0 {
		return c < 0
	}
	if a.Certainty != b.Certainty {
		return a.Certainty > b.Certainty
	}
	return telling(a) > telling(b)
}

// telling ranks crashes: a container that is ended by a signal may be ended on
// behalf of another, and one that ended with code 0 rather stopped than broke.
func telling(v Verdict) int {
	switch v.Rule {
	case outOfMemory.ID:
		return 4
	case crash.ID, crashCommand.ID, postStartHook.ID:
		return 3
	case startFailing.ID, crashSignal.ID:
		return 2
	case crashClean.ID:
		return 1
	default:
		return 0
	}
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
