package reason

// advice is, for each row of the table that is more than progress, the one
// line that tells a customer what to do about it. It stands beside the table
// and not in it, because the table is about meaning and this is about help.
var advice = map[string]string{
	"RuntimeClassNotServed": "Choose a runtime class that the location serves, or a location that serves the class.",
	"LocationMismatch":      "Nothing you can fix: the platform sent this to the wrong location. Tell its operator.",
	"AmbiguousServingLocation": "Nothing you can fix: the platform does not know which location it serves here. " +
		"Tell its operator.",
	NetworkNotFound:        "Create the network that the workload names, or name one that exists.",
	"NoMatchingLocations":  "Name a location that exists and is ready, or change the placement's location selector.",
	"NoLocations":          "Nothing you can fix: the platform offers no location at all. Tell its operator.",
	"NoCandidateLocations": "Name a location that exists and is ready, or change the placement's location selector.",
	"NetworkFailedToCreate": "Check the network interface against the network it names; " +
		"if both are right, tell the platform's operator.",
	"SourceNotFound":     "Create the ConfigMap or Secret that is named, in the workload's namespace, or stop naming it.",
	"SourceUnauthorized": "Let the platform read the ConfigMap or Secret that is named.",
	"SourceTooLarge":     "Make the ConfigMap or Secret smaller: 256 KiB each, and 1 MiB for all that one workload names.",
	"SourceNameTooLong":  "Give the ConfigMap or Secret a shorter name.",

	ConfigurationError: "Correct what the message names in the workload's template: " +
		"capabilities, volumes, or a ConfigMap or Secret a container refers to.",
	ImageUnavailable: "Check the image's name and tag, and that the workload names a secret that may pull it.",
	InstanceCrashing: "Find out why the process exits: see its logs and the exit code (137: killed, often for want of memory), " +
		"and check its command, environment and capabilities.",
	Failed: "See the message and the instance's own logs, correct the workload and apply it again.",

	NotRunning: "See the instance's own conditions: kubectl get instance NAME -o yaml.",

	Suspended: "Ask whoever runs the platform why the project is suspended; instances start again when that ends.",
	Stopped:   "If it should go on running, its process must not end: check the container's command.",

	QuotaNotGranted: "Ask for more quota, or free some by removing or scaling down other workloads.",

	"ReferencedDataNotReady": "Wait a moment; if it stays, check the ConfigMaps and Secrets that the workload names.",
	AwaitingPropagation:      "Wait a moment: the ConfigMaps and Secrets are being copied to the location.",
	"Resolving":              "Wait a moment: the ConfigMaps and Secrets are being looked up.",

	"NetworkProvisioning": "Wait a moment: the network is being made.",
	"NoMatchingLocation":  "Wait; if it stays, tell the platform's operator: the location does not know yet which one it is.",
	Disrupted:             "Wait a moment: the platform is moving the instance.",
	Unschedulable:         "Wait: the location has no room at the moment. If it stays, use a smaller instance type or another location.",

	InstancesProvisioning:  onItsWay,
	NoAvailablePlacements:  onItsWay,
	NoAvailableDeployments: onItsWay,
}

const (
	onItsWay = "Wait a moment: instances are on their way and none has reported a failure."
	// unheardOf is the advice on a reason that the table does not have.
	unheardOf = "See the message; this release of Causeway does not know the reason and can say no more."
)

// Advice is one line of what to do about a reason. There is one for every
// reason, known or not.
func Advice(reason string) string {
	e, ok := index[reason]
	switch {
	case !ok:
		return unheardOf
	case e.rank == Progress:
		return onItsWay
	default:
		return advice[e.name]
	}
}
