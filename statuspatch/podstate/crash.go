package podstate

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ended judges a run that came to its end: what a container of this kind and
// restart policy may do, a crash, or a start that failed.
func (j *judge) ended(c container, t *corev1.ContainerStateTerminated) Verdict {
	run, known := ran(t)
	switch {
	case isStartFailure(t):
		return j.startVerdict(c, t.ExitCode, t.Message, false)
	case t.ExitCode == 0 && !c.restarts(j.pod, 0):
		return Verdict{} // it has done its work
	case isInvented(t):
		return lostByNode.verdict(c.Container, sentence(c.Container, lostByNode.says, "", ""))
	case c.Kind != Init && known && run >= StayUp && c.restarts(j.pod, t.ExitCode):
		return endedLate.verdict(c.Container, sentence(c.Container,
			"ended after "+lasting(run)+" and is being restarted. It exited "+exit(t), itSays, t.Message))
	}
	return j.crashed(c, t)
}

// crashed is the verdict on a run that should have gone on.
func (j *judge) crashed(c container, t *corev1.ContainerStateTerminated) Verdict {
	opening := j.opening(c, t)
	if isOutOfMemory(t) {
		return outOfMemory.verdict(c.Container, sentence(c.Container, opening+" "+j.memoryText(c), itSays, t.Message))
	}
	text, rule := how(t.ExitCode, t.Signal)
	return rule.verdict(c.Container, sentence(c.Container, opening+" "+j.exitOpening(c)+text, itSays, t.Message))
}

func exit(t *corev1.ContainerStateTerminated) string {
	if isOutOfMemory(t) {
		return "with code 137, because it ran out of memory."
	}
	text, _ := how(t.ExitCode, t.Signal)
	return text
}

// opening begins the sentence on a crash. With memory it counts the restarts
// since the container last stayed up; without, all there ever were. t may be
// nil, or an end nobody knows the times of.
func (j *judge) opening(c container, t *corev1.ContainerStateTerminated) string {
	n, known := j.restartsSinceSteady(c)
	switch {
	case n > 0 && c.Kind == Init:
		return "has failed and restarted " + times(c.status.RestartCount) + "."
	case n > 0 && known:
		return "has exited and restarted " + times(n) + " without staying up for 5 minutes."
	}
	var run time.Duration
	timed := false
	if t != nil {
		run, timed = ran(t)
	}
	if n > 0 {
		text := "has restarted " + times(n)
		if timed {
			text += "; its last run lasted " + lasting(run)
		}
		return text + "."
	}
	text := "ended"
	if timed {
		text += " after " + lasting(run)
	}
	if t != nil && !c.restarts(j.pod, t.ExitCode) {
		return text + " and is not restarted."
	}
	return text + " and is being restarted."
}

// exitOpening goes on where opening ended: a count speaks of several ends.
func (j *judge) exitOpening(c container) string {
	if n, known := j.restartsSinceSteady(c); n > 0 && (known || c.Kind == Init) {
		return "Its last exit was "
	}
	return "It exited "
}

// ran is how long a run lasted. Runtimes and the kubelet leave times zero, or
// at the beginning of 1970, where there was no run.
func ran(t *corev1.ContainerStateTerminated) (time.Duration, bool) {
	if t.StartedAt.Unix() <= 0 || t.FinishedAt.Time.Before(t.StartedAt.Time) {
		return 0, false
	}
	return t.FinishedAt.Sub(t.StartedAt.Time), true
}

// isOutOfMemory believes the runtime only where the code agrees: the kill of a
// child marks the whole container, which may then end in any way, such as by
// SIGTERM (143).
func isOutOfMemory(t *corev1.ContainerStateTerminated) bool {
	return t.Reason == "OOMKilled" && t.ExitCode == 137
}

func (j *judge) memoryText(c container) string {
	limit, ofPod := c.memoryLimit(j.pod)
	switch {
	case limit == "":
		return outOfMemory.says + ", and it has no limit of its own. Set a limit that fits it, or have it use less."
	case ofPod:
		return outOfMemory.says + ": the limit of all containers together is " + limit + ". Raise the limit, or have them use less."
	default:
		return outOfMemory.says + ": its limit is " + limit + ". Raise the limit, or have it use less."
	}
}

// outOfMemory finds a container that is down because it ran out of memory.
func (j *judge) outOfMemory() Verdict {
	for c := range containersOf(j.pod) {
		if isUp(c.status) {
			continue
		}
		t := c.status.State.Terminated
		if t == nil && c.status.State.Waiting != nil {
			t = c.status.LastTerminationState.Terminated
		}
		if t != nil && isOutOfMemory(t) {
			return j.crashed(c, t)
		}
	}
	return Verdict{}
}

// restartsSinceSteady is how often the container has restarted since it last
// stayed up, where that is known; else how often it ever did. An init container
// is not there to stay up.
func (j *judge) restartsSinceSteady(c container) (n int32, known bool) {
	if c.Kind == Init {
		return c.status.RestartCount, false
	}
	if t := j.memory.track(c.Name); t != nil && t.known && t.steady <= c.status.RestartCount {
		return c.status.RestartCount - t.steady, true
	}
	return c.status.RestartCount, false
}

func (j *judge) restartsSince(c container) int32 {
	n, _ := j.restartsSinceSteady(c)
	return n
}
