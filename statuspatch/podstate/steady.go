package podstate

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// minTrial is how long a container that came back has to be ready before
	// it is trusted.
	minTrial = 10 * time.Second
)

// running judges a Pod whose containers are all running and ready. That is no
// failure whatever went before; but a container that crashes is running and
// ready between any two crashes, and nothing downstream damps. So it is on
// trial for twice as long as its last run lasted: one that lives equally long
// each time never passes, and costs no write at all; one that came back for
// good does, soon where it had failed fast. A run that stayed up, and a first
// run, need no trial.
func (j *judge) running() Verdict {
	if j.pod.DeletionTimestamp != nil {
		return deleting.verdict(Container{}, "")
	}
	var until time.Time
	for c := range containersOf(j.pod) {
		if c.Kind == Init {
			continue
		}
		started := c.status.State.Running.StartedAt
		if t := c.status.LastTerminationState.Terminated; t != nil && !started.IsZero() {
			if end := started.Add(trial(t)); end.After(until) {
				until = end
			}
		}
	}
	if j.now.Before(until) {
		v := onTrial.verdict(Container{}, "")
		v.Until = until
		return v
	}
	v := well.verdict(Container{}, "")
	v.Standing = Well
	return v
}

// trial is how long a container has to run after a run that ended so.
func trial(t *corev1.ContainerStateTerminated) time.Duration {
	run, known := ran(t)
	switch {
	case !known:
		return minTrial
	case run >= StayUp:
		return 0
	default:
		return min(max(2*run, minTrial), StayUp)
	}
}
