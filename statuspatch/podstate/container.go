package podstate

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// container judges one container: state.waiting, then state.terminated, and
// lastState only where they say nothing. The zero Verdict is for one that is
// well, or has done its work.
func (j *judge) container(c container) Verdict {
	s := c.status
	switch {
	case isUp(s):
		return Verdict{}
	case s.State.Waiting != nil:
		return j.waiting(c, s.State.Waiting)
	case s.State.Terminated != nil:
		return j.ended(c, s.State.Terminated)
	default:
		return j.betweenRuns(c)
	}
}

// waiting judges by the kubelet's reason. The reasons of a container that is
// simply on its way are never shown: they name no cause.
func (j *judge) waiting(c container, w *corev1.ContainerStateWaiting) Verdict {
	switch w.Reason {
	case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError",
		"RegistryUnavailable", "SignatureValidationFailed":
		return j.image(c, w.Reason, w.Message)
	case "CrashLoopBackOff":
		return j.crashLoop(c)
	case "RunContainerError":
		return j.notStarted(c, w.Message)
	case "CreateContainerConfigError":
		return j.notConfigured(c, w.Message)
	case "CreateContainerError":
		return j.notCreated(c, w.Message)
	case "PreCreateHookError", "PreStartHookError":
		return hookFailed.quoting(c.Container, nodeSays, w.Message)
	case "PostStartHookError":
		return postStartHook.quoting(c.Container, nodeSays, w.Message)
	}
	if isTrouble(w.Reason) {
		return j.waitsOddly(c, w)
	}
	return j.betweenRuns(c)
}

// isTrouble guesses by its form that a reason of tomorrow tells a failure.
func isTrouble(reason string) bool {
	for _, end := range []string{"Error", "Failed", "BackOff"} {
		if strings.HasSuffix(reason, end) {
			return true
		}
	}
	return strings.HasPrefix(reason, "Err")
}

func (j *judge) waitsOddly(c container, w *corev1.ContainerStateWaiting) Verdict {
	words := w.Reason
	if w.Message != "" {
		words += ": " + w.Message
	}
	rule, until := j.patiently(c, waitsOddly, waitsLong)
	v := rule.quoting(c.Container, nodeSays, words)
	v.Until = until
	return v
}

// patiently picks the rule for trouble that may pass: early for as long as the
// grace, late from then on. Without memory nobody knows since when, and it
// stays early.
func (j *judge) patiently(c container, early, late Rule) (Rule, time.Time) {
	t := j.memory.track(c.Name)
	if t == nil || t.since.IsZero() {
		return early, time.Time{}
	}
	if until := t.since.Add(j.options.startGrace()); j.now.Before(until) {
		return early, until
	}
	return late, time.Time{}
}

// betweenRuns judges a container that is on its way again, or running and not
// ready, by how its last run ended. A single run that was too short is no
// failure: the next one may well stay up.
func (j *judge) betweenRuns(c container) Verdict {
	t := c.status.LastTerminationState.Terminated
	switch {
	case t == nil, c.Kind == Init && t.ExitCode == 0:
		return starting.verdict(c.Container, "")
	case isStartFailure(t):
		if c.status.State.Running != nil {
			return starting.verdict(c.Container, "") // this time it did start
		}
		return j.notStarted(c, "")
	case isInvented(t):
		return lostByNode.verdict(c.Container, sentence(c.Container, lostByNode.says, "", ""))
	}
	v := j.ended(c, t)
	if v.Standing == Failing && j.restartsSince(c) < 2 {
		return endedOnce.verdict(c.Container, v.Sentence)
	}
	return v
}

// crashLoop judges CrashLoopBackOff by the last run: its own message only says
// how long the kubelet waits.
func (j *judge) crashLoop(c container) Verdict {
	t := c.status.LastTerminationState.Terminated
	switch {
	case t == nil, isInvented(t):
		return crashUnknown.verdict(c.Container, sentence(c.Container, j.opening(c, t)+" "+crashUnknown.says, "", ""))
	case isStartFailure(t):
		return j.startVerdict(c, t.ExitCode, t.Message, true)
	default:
		return j.ended(c, t)
	}
}

// isInvented tells an end that the kubelet made up: the exit code 137 is not
// the container's, and the times are zero.
func isInvented(t *corev1.ContainerStateTerminated) bool {
	return t.Reason == "ContainerStatusUnknown" || t.Reason == "RestartingAllContainers"
}
