package podstate

import (
	"slices"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

//go:generate go run ./reasonsdoc ../../docs/reasons.md

// Rule is one thing that a Pod can say about its Instance.
type Rule struct {
	// ID is the rule's name: in a Verdict, in tests and in the documentation.
	ID string
	// Reason is empty where the rule finds no failure.
	Reason    string
	Certainty Certainty
	// When says what the Pod shows.
	When string
	// says is the rule's part of the sentence.
	says string
}

// Rules are all rules, in the order in which the documentation shows them.
func Rules() []Rule { return slices.Clone(all) }

// The rules about the Pod as a whole.
var (
	evicted = Rule{"evicted", reason.Disrupted, Retrying,
		"the Pod's status.reason is Evicted", "was evicted from its node."}
	evictedOverLimit = Rule{"evicted-over-limit", reason.Disrupted, Permanent,
		"the Pod's status.reason is Evicted, and the message says that the Pod used more than its own limit",
		"was evicted from its node because it used more than it may. Raise the limit, or have it use less."}
	preempted = Rule{"preempted", reason.Disrupted, Retrying,
		"DisruptionTarget is True with reason PreemptionByScheduler, or status.reason is Preempting, while a container is down",
		"was preempted: its node was needed by a Pod of higher priority."}
	disrupted = Rule{"disrupted", reason.Disrupted, Retrying,
		"DisruptionTarget is True for any other reason, while a container is down", "is being moved off its node."}
	nodeRefused = Rule{"node-refused", reason.Disrupted, Retrying,
		"the Pod failed at admission to its node: OutOfcpu, NodeAffinity, UnexpectedAdmissionError and the like",
		"was refused by the node it was placed on."}
	nodeLost = Rule{"node-lost", reason.Disrupted, Retrying,
		"the Pod's status.reason is NodeLost, NodeShutdown, Shutdown or Terminated; or the Pod failed and the node only says that it lost the container",
		"was lost with its node."}
	deadlineExceeded = Rule{"deadline-exceeded", reason.InstanceCrashing, Permanent,
		"the Pod's status.reason is DeadlineExceeded", "was ended because it ran for longer than it may"}
	podFailed = Rule{"pod-failed", reason.InstanceCrashing, Retrying,
		"the Pod's phase is Failed and no container tells why", "has failed."}
	unschedulable = Rule{"unschedulable", reason.Unschedulable, Retrying,
		"PodScheduled is False with reason Unschedulable for longer than the grace", "fits on no node yet. The platform keeps trying."}
)

// The rules about images.
var (
	imageNotFound = Rule{"image-not-found", reason.ImageUnavailable, Permanent,
		"the registry says that there is no such image", "it was not found. Correct its name or tag, or push it."}
	imageForbidden = Rule{"image-forbidden", reason.ImageUnavailable, Permanent,
		"the registry refuses access", "the registry refused access. Check the image's name and the credentials for its registry."}
	imagePlatform = Rule{"image-platform", reason.ImageUnavailable, Permanent,
		"the image exists, but not for the node's architecture", "it was not built for the node's architecture. Build and push it for that one too."}
	imageName = Rule{"image-name", reason.ImageUnavailable, Permanent,
		"InvalidImageName", "that is not a valid image name. Correct it."}
	imageAbsent = Rule{"image-absent", reason.ImageUnavailable, Permanent,
		"ErrImageNeverPull", "it is not on the node, and its pull policy forbids pulling it. Change the policy."}
	imageSignature = Rule{"image-signature", reason.ImageUnavailable, Permanent,
		"SignatureValidationFailed", "its signature could not be verified. Sign it, or use one that is signed."}
	imageLimited = Rule{"image-limited", reason.ImageUnavailable, Retrying,
		"the registry allows no further pulls for now", "the registry allows no further pulls for now. The platform keeps trying."}
	imageUnreachable = Rule{"image-unreachable", reason.ImageUnavailable, Retrying,
		"the registry does not answer, or not in time; RegistryUnavailable", "the registry could not be reached. The platform keeps trying."}
	imageOther = Rule{"image-other", reason.ImageUnavailable, Retrying,
		"any other failure to pull or to inspect an image", "the pull failed. The platform keeps trying."}
)

// The rules about containers that the node does not create.
var (
	dataMissing = Rule{"data-missing", reason.ConfigurationError, Permanent,
		"CreateContainerConfigError, and a Secret or ConfigMap or a key of one is not found",
		"cannot start: data it refers to does not exist. Create it, or correct the reference."}
	runsAsRoot = Rule{"runs-as-root", reason.ConfigurationError, Permanent,
		"CreateContainerConfigError, and runAsNonRoot does not agree with the image",
		"cannot start: it must not run as root, and its image does not rule that out. Set a user by number."}
	configOther = Rule{"config-other", reason.ConfigurationError, Permanent,
		"CreateContainerConfigError with any other message", "cannot start as configured. Correct its configuration."}
	createFailed = Rule{"create-failed", reason.ConfigurationError, Retrying,
		"CreateContainerError with a message that no start rule knows", "could not be created. The platform keeps trying."}
	hookFailed = Rule{"hook-failed", reason.ConfigurationError, Permanent,
		"PreCreateHookError or PreStartHookError", "cannot start: what the node has to do before its start failed."}
	notReadyYet = Rule{"node-not-ready-yet", "", Transient,
		"the node's own view of Secrets, ConfigMaps or Services is not synced, or it could not ask for them in time, for less than the grace",
		"waits for its node to read the data it refers to."}
	notReadyLong = Rule{"node-not-ready", reason.ConfigurationError, Retrying,
		"the node's own view of Secrets, ConfigMaps or Services is not synced, or it could not ask for them in time, for longer than the grace", "cannot start yet: its node could not read the data it refers to. The platform keeps trying."}
	waitsOddly = Rule{"waits", "", Transient,
		"a waiting reason that nobody knows and that ends in Error, Failed or BackOff, for less than the grace", "does not start yet."}
	waitsLong = Rule{"waits-long", reason.NotRunning, Retrying, "a waiting reason that nobody knows and that ends in Error, Failed or BackOff, for longer than the grace", "does not start."}
)

// The rules about containers that the runtime does not start: RunContainerError,
// or a termination with reason StartError or ContainerCannotRun, or
// CrashLoopBackOff after one of those.
var (
	startNoExecutable = Rule{"start-no-executable", reason.ConfigurationError, Permanent,
		"the runtime does not find the executable", "cannot start: its executable was not found. Check its command and its image."}
	startNotExecutable = Rule{"start-not-executable", reason.ConfigurationError, Permanent,
		"the runtime may not execute the executable", "cannot start: its command may not be executed. Check the file's permissions in the image."}
	startFormat = Rule{"start-format", reason.ConfigurationError, Permanent,
		"the executable has a format that the node cannot run",
		"cannot start: its executable is not one that the node can run. Build the image for the node's architecture, and begin scripts with #!."}
	startUser = Rule{"start-user", reason.ConfigurationError, Permanent,
		"the user is not in the image", "cannot start: its user is not known in the image. Set one that is, or a number."}
	startMemory = Rule{"start-memory", reason.ConfigurationError, Permanent,
		"the memory limit is too low for the runtime itself", "cannot start: its memory limit is too low. Raise the limit."}
	startMissingPath = Rule{"start-missing-path", reason.ConfigurationError, Permanent,
		"a file or directory is missing", "cannot start: a file or directory it needs is missing. Check its command, working directory and volumes."}
	startImpossible = Rule{"start-impossible", reason.ConfigurationError, Permanent,
		"exit code 126 or 127, or another message that a later try cannot change", "cannot start as configured. Check its command and its security settings."}
	startHiccup = Rule{"start-hiccup", "", Transient,
		"the runtime's message tells a hiccup or tells nothing, once, for less than the grace", "could not be started and is being tried again."}
	startFailing = Rule{"start-failing", reason.InstanceCrashing, Retrying,
		"the runtime's message tells a hiccup or tells nothing, a second time, or for longer than the grace, or in CrashLoopBackOff",
		"repeatedly fails to start. The platform keeps trying."}
)

// The rules about containers that ran.
var (
	crash = Rule{"crash", reason.InstanceCrashing, Retrying,
		"an exit with a code above 0", "with code "}
	crashSignal = Rule{"crash-signal", reason.InstanceCrashing, Retrying,
		"an exit by a signal, which is likely for a code of 128 and the signal's number", ""}
	crashClean = Rule{"crash-clean", reason.InstanceCrashing, Retrying,
		"an exit with code 0 of a container that is restarted", "with code 0, as if its work were done. Have it keep running."}
	crashCommand = Rule{"crash-command", reason.InstanceCrashing, Retrying,
		"an exit with code 126 or 127 of a container that did start", ""}
	crashUnknown = Rule{"crash-unknown", reason.InstanceCrashing, Retrying,
		"CrashLoopBackOff, and nothing tells how the last run ended", "It is not known how it ended."}
	outOfMemory = Rule{"out-of-memory", reason.InstanceCrashing, Retrying,
		"the runtime says OOMKilled with exit code 137", "It ran out of memory"}
	postStartHook = Rule{"post-start-hook", reason.InstanceCrashing, Retrying,
		"PostStartHookError", "was ended because its postStart hook failed. Correct the hook."}
	endedLate = Rule{"ended-after-staying-up", "", Transient,
		"an exit after at least 5 minutes, even in CrashLoopBackOff", ""}
	endedOnce = Rule{"ended-once", "", Transient,
		"it starts again, or runs and is not ready, after a single run that was too short", ""}
	lostByNode = Rule{"lost-by-node", "", Transient,
		"ContainerStatusUnknown or RestartingAllContainers: the exit code 137 is invented by the node", "is being restarted by its node."}
)

// The rules for what is no trouble.
var (
	well = Rule{"well", "", None,
		"every container is running and ready, and has been for twice as long as its last run, at least 10 seconds, at most 5 minutes; at once where the last run stayed up or there was none", ""}
	onTrial  = Rule{"on-trial", "", None, "every container is running and ready, but not for that long", ""}
	starting = Rule{"starting", "", None, "a container is on its way, or is not ready", ""}
	deleting = Rule{"deleting", "", None, "the Pod is being deleted, and nobody disrupted it", ""}
	done     = Rule{"done", "", None, "the Pod succeeded", ""}
)

var all = []Rule{
	evicted, evictedOverLimit, preempted, disrupted, nodeRefused, nodeLost, deadlineExceeded, podFailed, unschedulable,
	imageNotFound, imageForbidden, imagePlatform, imageName, imageAbsent, imageSignature, imageLimited, imageUnreachable, imageOther,
	dataMissing, runsAsRoot, configOther, createFailed, hookFailed, notReadyYet, notReadyLong, waitsOddly, waitsLong,
	startNoExecutable, startNotExecutable, startFormat, startUser, startMemory, startMissingPath, startImpossible, startHiccup, startFailing,
	crash, crashSignal, crashClean, crashCommand, crashUnknown, outOfMemory, postStartHook, endedLate, endedOnce, lostByNode,
	well, onTrial, starting, deleting, done,
}

// verdict is the verdict of a rule on a container, or on the Pod.
func (r Rule) verdict(c Container, sentence string) Verdict {
	v := Verdict{Rule: r.ID, Reason: r.Reason, Certainty: r.Certainty, Container: c, Sentence: sentence}
	if r.Reason != "" {
		v.Standing = Failing
	}
	return v
}

// quoting is the verdict whose sentence is the rule's own and the words.
func (r Rule) quoting(c Container, source, words string) Verdict {
	return r.verdict(c, sentence(c, r.says, source, words))
}
