package podstate

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// maxTracks bounds how many containers of a Pod are remembered. Those beyond
// are judged as without memory.
const maxTracks = 32

// Memory is what one Pod alone does not tell: how often a container had
// restarted when it last stayed up, since when it has trouble that may pass,
// and why its image could not be pulled. It is a value of bounded size (some 150
// bytes a container, 20 KiB at worst), and Observe never changes one in place. Whoever keeps it keeps one per Pod and drops it with
// the Pod; losing one costs exactness only.
type Memory struct {
	uid    string
	tracks []track
}

// track is the memory of one container.
type track struct {
	name string
	// restarts is the count at the last change of it, at the moment of that.
	restarts int32
	at       time.Time
	// steady is the restart count at the last run that stayed up, where known.
	// Where the first run was seen, it is 0 until one does.
	steady int32
	known  bool
	// stayed tells that some run stayed up, or may have: its length is not known.
	// Once it is set it stays so.
	stayed bool
	// since is the beginning of trouble that may pass, zero without; first is
	// the restart count then.
	since time.Time
	first int32
	// pull is why the image could not be pulled, cleaned and bounded.
	pull string
}

// of is the memory if it is of this very Pod: names come back, UIDs do not.
func (m Memory) of(pod *corev1.Pod) Memory {
	if m.uid != string(pod.UID) {
		return Memory{}
	}
	return m
}

func (m Memory) track(name string) *track {
	for i := range m.tracks {
		if m.tracks[i].name == name {
			return &m.tracks[i]
		}
	}
	return nil
}

// Observe is the memory after a look at the Pod. Where the look adds nothing
// the same memory comes back, and nothing is allocated. Look at every version
// of the Pod, and when Classify said to look again.
func Observe(m Memory, pod *corev1.Pod, now time.Time) Memory {
	own := m.of(pod)
	if own.uid == "" {
		own = Memory{uid: string(pod.UID)}
	}
	copied := false
	for c := range containersOf(pod) {
		before := own.track(c.Name)
		after := observe(before, c, now)
		if before != nil && *before == after {
			continue
		}
		if !copied {
			own.tracks, copied = slices.Clone(own.tracks), true
			before = own.track(c.Name)
		}
		switch {
		case before != nil:
			*before = after
		case len(own.tracks) < maxTracks:
			own.tracks = append(own.tracks, after)
		}
	}
	return own
}

func observe(before *track, c container, now time.Time) track {
	s := c.status
	t := track{name: c.Name, restarts: s.RestartCount, at: now, known: s.RestartCount == 0}
	if before != nil {
		t = *before
		t.restartsAre(s.RestartCount, now)
	}
	t.stayedUp(s, now)
	if !mayPass(c) {
		t.since, t.first = time.Time{}, 0
	} else if t.since.IsZero() {
		t.since, t.first = now, s.RestartCount
		if at := failedAt(s); !at.IsZero() && at.Before(now) {
			t.since = at
		}
	}
	t.pulled(s)
	return t
}

// restartsAre takes in the restart count. Where restarts were missed for so
// long that a run in between may have stayed up, the steady one is unknown.
func (t *track) restartsAre(n int32, now time.Time) {
	switch {
	case n == t.restarts:
		return
	case n < t.restarts, n > t.restarts+1 && now.Sub(t.at) >= StayUp:
		t.known = n == 0
		t.steady = 0
	}
	t.restarts, t.at = n, now
}

// stayedUp finds a run that did, and which one it was: a running container is
// one restart further than its last termination.
func (t *track) stayedUp(s *corev1.ContainerStatus, now time.Time) {
	run := func(ended *corev1.ContainerStateTerminated) bool {
		if ended == nil {
			return false
		}
		d, known := ran(ended)
		return known && d >= StayUp
	}
	running := s.State.Running
	stays := running != nil && running.StartedAt.Unix() > 0 && now.Sub(running.StartedAt.Time) >= StayUp
	switch {
	case stays,
		running == nil && run(s.State.Terminated),
		running == nil && s.State.Terminated == nil && run(s.LastTerminationState.Terminated):
		t.steady, t.known = s.RestartCount, true
	case running != nil && run(s.LastTerminationState.Terminated) && (!t.known || t.steady < s.RestartCount-1):
		t.steady, t.known = max(s.RestartCount-1, 0), true
	}
	mayHave := func(ended *corev1.ContainerStateTerminated) bool {
		if ended == nil || isStartFailure(ended) {
			return false
		}
		_, known := ran(ended)
		return !known || run(ended)
	}
	t.stayed = t.stayed || stays || mayHave(s.State.Terminated) || mayHave(s.LastTerminationState.Terminated)
}

// mayPass tells trouble that is given a grace.
func mayPass(c container) bool {
	s := c.status
	if w := s.State.Waiting; w != nil {
		switch w.Reason {
		case "RunContainerError", "CreateContainerError", "CreateContainerConfigError":
			return true
		}
		if isTrouble(w.Reason) && w.Reason != "CrashLoopBackOff" && w.Reason != "ImagePullBackOff" && w.Reason != "ErrImagePull" {
			return true
		}
	}
	switch {
	case s.State.Running != nil:
		return false
	case s.State.Terminated != nil:
		return isStartFailure(s.State.Terminated)
	default:
		last := s.LastTerminationState.Terminated
		return last != nil && isStartFailure(last)
	}
}

// pulled keeps why the image could not be pulled for as long as the container
// waits for it.
func (t *track) pulled(s *corev1.ContainerStatus) {
	w := s.State.Waiting
	switch {
	case w == nil:
		t.pull = ""
	case w.Reason == "ErrImagePull", w.Reason == "ImagePullBackOff":
		if cause := pullCause(w.Message); cause != "" {
			t.pull = rollup.Clean(cause, maxWords)
		}
	}
}
