package podstate

import (
	"strconv"
	"time"
)

// Standing is where an Instance stands by its Pod alone.
type Standing int

const (
	// Unsettled is neither well nor failing: on its way, between two runs, not
	// yet trusted again, or done. Whatever the Instance says stays.
	Unsettled Standing = iota
	// Well: every container is running and ready, and has been for long enough.
	Well
	// Failing: the Pod proves that the Instance is not available.
	Failing
)

// String is for tests and logs.
func (s Standing) String() string {
	switch s {
	case Unsettled:
		return "unsettled"
	case Well:
		return "well"
	case Failing:
		return "failing"
	}
	return "Standing(" + strconv.Itoa(int(s)) + ")"
}

// Certainty is what to expect if nobody does anything.
type Certainty int

const (
	// None: there is no trouble.
	None Certainty = iota
	// Transient trouble is expected to pass within moments, and is no failure
	// yet.
	Transient
	// Retrying: the platform tries again, and that may well help.
	Retrying
	// Permanent trouble does not heal by itself.
	Permanent
)

// String is for tests, logs and docs.
func (c Certainty) String() string {
	switch c {
	case None:
		return "none"
	case Transient:
		return "transient"
	case Retrying:
		return "retrying"
	case Permanent:
		return "permanent"
	}
	return "Certainty(" + strconv.Itoa(int(c)) + ")"
}

// Kind is the kind of a container, in the words that sentences use.
type Kind string

// The kinds of containers.
const (
	App     Kind = "container"
	Init    Kind = "init container"
	Sidecar Kind = "sidecar container" // an init container that keeps running
)

// Container names a container of a Pod; zero where the verdict is about the Pod
// as a whole.
type Container struct {
	Kind Kind
	Name string
}

// Verdict is what a Pod says about its Instance.
type Verdict struct {
	Standing Standing
	// Rule is the ID of the rule that decided.
	Rule string
	// Reason is the reason of the failure, empty unless Failing.
	Reason string
	// Certainty tells apart what passes from what stays.
	Certainty Certainty
	// Container is the one that explains the others.
	Container Container
	// Sentence tells what is wrong. Trouble that is Transient has one too: a
	// note for logs, for no condition says it.
	Sentence string
	// Until is when the passing of time alone may change the verdict; zero
	// where only the Pod can.
	Until time.Time
}

const (
	// StayUp is how long a container has to run for its end not to count as a
	// crash, and for its earlier crashes to be forgotten. The sentences say so.
	StayUp = 5 * time.Minute

	// DefaultStartGrace is how long trouble that may be a hiccup is no failure.
	DefaultStartGrace = time.Minute
	// DefaultScheduleGrace is how long a Pod may look for a node.
	DefaultScheduleGrace = time.Minute
)

// Options are the graces; 0 means the default.
type Options struct {
	StartGrace    time.Duration
	ScheduleGrace time.Duration
}

func (o Options) startGrace() time.Duration {
	if o.StartGrace == 0 {
		return DefaultStartGrace
	}
	return o.StartGrace
}

func (o Options) scheduleGrace() time.Duration {
	if o.ScheduleGrace == 0 {
		return DefaultScheduleGrace
	}
	return o.ScheduleGrace
}
