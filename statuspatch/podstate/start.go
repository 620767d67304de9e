package podstate

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// isStartFailure tells a container that never ran. containerd gives every such
// failure the reason StartError and the code 128; docker used
// ContainerCannotRun, and 126 or 127 for a missing executable.
func isStartFailure(t *corev1.ContainerStateTerminated) bool {
	return t.Reason == "StartError" || t.Reason == "ContainerCannotRun"
}

// notStarted judges a container that is being started again. The kubelet shows
// one failure as a termination, as RunContainerError and as lastState in turn,
// and containerd gives all three the same message.
func (j *judge) notStarted(c container, message string) Verdict {
	code := int32(128)
	if t := c.status.LastTerminationState.Terminated; message == "" && t != nil && isStartFailure(t) {
		code, message = t.ExitCode, t.Message
	}
	return j.startVerdict(c, code, message, false)
}

// startVerdict judges a failure to start by its exit code and the runtime's
// message. A message that tells nothing is taken for a hiccup until it comes
// again, or lasts. looping is CrashLoopBackOff: it came again.
func (j *judge) startVerdict(c container, code int32, message string, looping bool) Verdict {
	text := strings.ToLower(unquoted(message))
	if rule, ok := impossible(text); ok {
		return rule.quoting(c.Container, runtimeSays, message)
	}
	if (code == 126 || code == 127) && !isHiccup(text) {
		return startImpossible.quoting(c.Container, runtimeSays, message)
	}
	if looping || j.repeated(c) {
		return startFailing.quoting(c.Container, runtimeSays, message)
	}
	rule, until := j.patiently(c, startHiccup, startFailing)
	if until.IsZero() && rule.ID == startHiccup.ID {
		rule, until = j.outlasted(c)
	}
	v := rule.quoting(c.Container, runtimeSays, message)
	v.Until = until
	return v
}

// outlasted measures the grace from the failure itself, where there is no
// memory of the first one.
func (j *judge) outlasted(c container) (Rule, time.Time) {
	at := failedAt(c.status)
	until := at.Add(j.options.startGrace())
	switch {
	case at.IsZero():
		return startHiccup, time.Time{}
	case j.now.Before(until):
		return startHiccup, until
	default:
		return startFailing, time.Time{}
	}
}

// failedAt is when the container failed to start, where its status tells.
func failedAt(s *corev1.ContainerStatus) time.Time {
	for _, state := range []*corev1.ContainerState{&s.State, &s.LastTerminationState} {
		if t := state.Terminated; t != nil && isStartFailure(t) && t.FinishedAt.Unix() > 0 {
			return t.FinishedAt.Time
		}
	}
	return time.Time{}
}

// repeated tells whether the container has failed to start more than once in a
// row: two terminations say so, or memory. While it waits, the newest try is
// still under way and counts for nothing.
func (j *judge) repeated(c container) bool {
	failed := c.status.State.Terminated
	if last := c.status.LastTerminationState.Terminated; failed != nil && last != nil && isStartFailure(failed) && isStartFailure(last) {
		return true
	}
	t := j.memory.track(c.Name)
	if t == nil || t.since.IsZero() {
		return false
	}
	tries := t.restarts - t.first
	if failed != nil {
		tries++
	}
	return tries >= 2
}

// impossible finds the rule for a runtime's error that a later try cannot
// change. The text is in lower case, without what it quotes; a hiccup that
// mentions such a thing is a hiccup.
func impossible(text string) (Rule, bool) {
	if isHiccup(text) {
		return Rule{}, false
	}
	for _, p := range startErrors {
		if containsAny(text, p.phrases) {
			return *p.rule, true
		}
	}
	return Rule{}, false
}

// isHiccup tells an error of the connection between the node's parts. The
// phrases are whole enough not to be somebody's file name.
func isHiccup(text string) bool { return containsAny(text, hiccups) }

var hiccups = []string{"connection is closing", "deadline exceeded", "code = unavailable", "connection refused", "connection reset",
	"error while dialing", "transport is closing", "i/o timeout", "tls handshake timeout", "timed out", "try again",
	"resource temporarily unavailable", "device or resource busy", "ttrpc: closed", "context canceled", "etcdserver:",
	"too many requests", "is reserved for", "broken pipe", "unexpected eof"}

// startErrors are phrases of runtimes, in lower case, the more exact ones first.
var startErrors = []struct {
	rule    *Rule
	phrases []string
}{
	{&startNoExecutable, []string{"executable file not found"}},
	{&startFormat, []string{"exec format error"}},
	{&startMemory, []string{"container init was oom-killed", "minimum memory limit", "memory limit too low", "limit too low"}},
	{&startUser, []string{"unable to find user", "unable to find group", "no users found", "no matching entries in passwd",
		"no matching entries in group", "unknown user"}},
	{&startNotExecutable, []string{"permission denied", "is a directory"}},
	{&startMissingPath, []string{"no such file or directory", "not a directory"}},
	{&startImpossible, []string{"operation not permitted", "invalid argument", "read-only file system", "unknown capability",
		"no command specified", "not supported", "argument list too long"}},
}
