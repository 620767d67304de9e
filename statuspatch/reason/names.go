package reason

// Reasons that code has to name. All others live in the table only.
const (
	ConfigurationError = "ConfigurationError"
	ImageUnavailable   = "ImageUnavailable"
	InstanceCrashing   = "InstanceCrashing"
	Failed             = "Failed"
	Suspended          = "Suspended"
	Stopped            = "Stopped"
	Disrupted          = "Disrupted"
	Unschedulable      = "Unschedulable"

	// NetworkNotFound is the one reason of a Workload's own controller that
	// stands even over ready Instances.
	NetworkNotFound = "NetworkNotFound"
	// QuotaNotGranted is how every refusal of quota is read: PendingQuota, a
	// QuotaGranted condition that is False, and QuotaNoBudget.
	QuotaNotGranted = "QuotaNotGranted"
	// NotRunning stands in for a failure whose own reason could not be written
	// into a condition: empty, too long, or with forbidden characters. It is
	// Causeway's own; no writer of the platform knows it.
	NotRunning = "NotRunning"
)

// QuotaNoBudget is a reason of the condition QuotaGranted with status Unknown:
// the project has no allowance. Unlike the other Unknowns of that condition it
// will not pass by itself, so it reads as QuotaNotGranted.
const QuotaNoBudget = "QuotaNoBudget"

// The platform's own reasons and messages for what Causeway says in its stead:
// a condition that Causeway would write just like the platform must be equal
// to the platform's byte for byte, or the two would take turns.
const (
	// StableInstanceFound is a deployment's Available=True.
	StableInstanceFound = "StableInstanceFound"
	// InstancesProvisioning is a deployment's Available=False without a cause.
	InstancesProvisioning = "InstancesProvisioning"
	// ReplicasAvailable is a deployment's ReplicasReady=True.
	ReplicasAvailable = "ReplicasAvailable"
	// QuotaExceeded is a deployment's ReplicasReady=False for want of quota.
	QuotaExceeded = "QuotaExceeded"
	// AwaitingPropagation is a deployment's ReplicasReady=False for want of
	// data, and an Instance's reason for the same.
	AwaitingPropagation = "AwaitingPropagation"
	// AsExpected is Degraded=False, a condition that only Causeway writes.
	AsExpected = "AsExpected"
	// AvailableDeploymentFound is a placement's Available=True.
	AvailableDeploymentFound = "AvailableDeploymentFound"
	// NoAvailableDeployments is a placement's Available=False without a cause.
	NoAvailableDeployments = "NoAvailableDeployments"
	// AvailablePlacementFound is a Workload's Available=True.
	AvailablePlacementFound = "AvailablePlacementFound"
	// NoAvailablePlacements is the platform's Available=False of a Workload
	// without a cause. Causeway says InstancesProvisioning instead.
	NoAvailablePlacements = "NoAvailablePlacements"

	MessageInstancesProvisioning    = "Instances are being provisioned"
	MessageNoInstances              = "No instances available yet"
	MessageAvailableDeploymentFound = "At least one available deployment was found"
	MessageNoAvailableDeployments   = "No available deployments were found for the placement"
	MessageAvailablePlacementFound  = "At least one available placement was found"
)
