package podstate

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// Lacks are the containers of a Pod that crash at start-up and run without some
// of the capabilities, which are those that the class grants by default. memory
// is what Observe made of this version of the Pod. until is when the passing of
// time alone may change the answer; zero where only the Pod can.
//
// A crash at start-up is one of a container that was seen from its first run and
// never stayed up. Where memory does not reach back that far it may have, and
// nothing is said of it; nor of one that ended for a known cause, was never
// started, or has come back for good.
func Lacks(pod *corev1.Pod, memory Memory, class string, capabilities []string, now time.Time) (lacks []rollup.Lack, until time.Time) {
	memory = memory.of(pod)
	for c := range containersOf(pod) {
		if c.Kind == Init || c.spec == nil || !memory.track(c.Name).atStartup(c.status) {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(capabilities), func(name string) bool { return !runsWithout(c.spec, name) })
		list := rollup.ListCapabilities(missing)
		if list == "" {
			continue
		}
		if end := c.crashesUntil(); !end.IsZero() {
			if !now.Before(end) {
				continue
			}
			until = sooner(until, end)
		}
		lacks = append(lacks, rollup.Lack{Class: class, Container: c.Name, Capabilities: list})
	}
	return lacks, until
}

// atStartup tells a container whose runs all were too short and whose last one
// ended for no known cause.
func (t *track) atStartup(s *corev1.ContainerStatus) bool {
	if t == nil || !t.known || t.stayed {
		return false
	}
	last := s.State.Terminated
	if last == nil {
		last = s.LastTerminationState.Terminated
	}
	return last != nil && last.ExitCode != 0 && !isStartFailure(last) && !isInvented(last) && !isOutOfMemory(last)
}

// crashesUntil is when a container that runs again stops to count as one that
// crashes: when it has stayed up, or, if it is ready, has passed its trial.
func (c container) crashesUntil() time.Time {
	r := c.status.State.Running
	if r == nil || r.StartedAt.IsZero() {
		return time.Time{}
	}
	if last := c.status.LastTerminationState.Terminated; c.status.Ready && last != nil {
		return r.StartedAt.Add(trial(last))
	}
	return r.StartedAt.Add(StayUp)
}

// runsWithout tells whether the runtime leaves the capability out, by the rules
// that all of them share: what is added stays when ALL is dropped, and what is
// dropped by name does not. Where ALL is not dropped, the runtime's own defaults
// apply, which nobody knows here.
func runsWithout(c *corev1.Container, name string) bool {
	s := c.SecurityContext
	if s == nil || s.Capabilities == nil || s.Privileged != nil && *s.Privileged {
		return false
	}
	names := func(list []corev1.Capability, name string) bool {
		return slices.ContainsFunc(list, func(c corev1.Capability) bool { return strings.EqualFold(string(c), name) })
	}
	const every = "ALL"
	switch {
	case names(s.Capabilities.Drop, name):
		return true
	case names(s.Capabilities.Add, name), names(s.Capabilities.Add, every):
		return false
	default:
		return names(s.Capabilities.Drop, every)
	}
}
