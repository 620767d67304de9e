package podstate

import (
	"strings"
	"time"
)

// notConfigured judges CreateContainerConfigError: what the Pod refers to does
// not fit, or the node has not got it yet.
func (j *judge) notConfigured(c container, message string) Verdict {
	text := strings.ToLower(unquoted(message))
	switch {
	case isUnsynced(text), isHiccup(text):
		return j.notSynced(c, message)
	case strings.Contains(text, "not found"), strings.Contains(text, "couldn't find key"), strings.Contains(text, "couldn't find the key"):
		return dataMissing.quoting(c.Container, nodeSays, message)
	case strings.Contains(text, "runasnonroot"):
		return runsAsRoot.quoting(c.Container, nodeSays, message)
	}
	return configOther.quoting(c.Container, nodeSays, message)
}

func (j *judge) notSynced(c container, message string) Verdict {
	rule, until := j.patiently(c, notReadyYet, notReadyLong)
	v := rule.quoting(c.Container, nodeSays, message)
	v.Until = until
	return v
}

// isUnsynced tells the kubelet's own waiting for its caches, whatever they are
// of: "failed to sync secret cache: timed out waiting for the condition".
func isUnsynced(text string) bool {
	return strings.Contains(text, "failed to sync") && strings.Contains(text, "cache") ||
		strings.Contains(text, "have not yet been read at least once")
}

// notCreated judges CreateContainerError by the runtime's message as far as the
// rules of starting know it.
func (j *judge) notCreated(c container, message string) Verdict {
	text := strings.ToLower(unquoted(message))
	if rule, ok := impossible(text); ok {
		return rule.quoting(c.Container, runtimeSays, message)
	}
	if !isHiccup(text) {
		return createFailed.quoting(c.Container, runtimeSays, message)
	}
	rule, until := j.patiently(c, startHiccup, startFailing)
	if rule.ID == startHiccup.ID && j.repeated(c) {
		rule, until = startFailing, time.Time{}
	}
	v := rule.quoting(c.Container, runtimeSays, message)
	v.Until = until
	return v
}
