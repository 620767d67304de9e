package reason

// Rank is the weight of a reason: a higher one is told before, and instead of,
// a lower one. It is from 8 (Refused) to 0 (Progress).
type Rank int

// The ranks. Only those of Working and above are failures; only those of Data
// and above are worth a further sentence beside a worse one.
const (
	Refused     Rank = 8 // refused, or cannot be placed
	CustomerFix Rank = 7 // the customer must change something
	Unknown     Rank = 6 // a failure the table does not know
	OnPurpose   Rank = 5 // somebody wanted it so
	Quota       Rank = 4 // waits for quota
	Data        Rank = 3 // waits for data it refers to
	Working     Rank = 2 // the platform is still working on it
	Default     Rank = 1 // what a controller says when it knows nothing
	Progress    Rank = 0 // on its way: never a failure
)

// base tells which parents' controllers say a reason of their own accord,
// knowing something that the children cannot tell.
type base uint8

const (
	deploymentBase base = 1 << iota
	workloadBase
)

// row is one reason.
type row struct {
	name string
	rank Rank
	base base
	// one and several continue "N of M instances" for N = 1 and N > 1. Where
	// they are empty, the phrase for unknown reasons is used: nobody but a
	// parent's controller is expected to say the reason.
	one, several string
	// stock are messages that say no more than the phrase does.
	stock []string
	// aliases are other names under which writers report the same thing.
	aliases []string
}

// table is in the order of preference: ranks descend, and within a rank the
// first row is told first.
var table = []row{
	{name: "RuntimeClassNotServed", rank: Refused, base: deploymentBase},
	{name: "LocationMismatch", rank: Refused, base: deploymentBase, aliases: []string{"CityCodeMismatch"}},
	{name: "AmbiguousServingLocation", rank: Refused, base: deploymentBase},
	{name: NetworkNotFound, rank: Refused, base: workloadBase},
	{name: "NoMatchingLocations", rank: Refused, base: workloadBase},
	{name: "NoLocations", rank: Refused, base: workloadBase},
	{name: "NoCandidateLocations", rank: Refused, base: workloadBase},
	{name: "NetworkFailedToCreate", rank: Refused, one: "has no network", several: "have no network"},
	{name: "SourceNotFound", rank: Refused, base: deploymentBase, one: readsOne, several: readSeveral},
	{name: "SourceUnauthorized", rank: Refused, base: deploymentBase, one: readsOne, several: readSeveral},
	{name: "SourceTooLarge", rank: Refused, base: deploymentBase, one: readsOne, several: readSeveral},
	{name: "SourceNameTooLong", rank: Refused, base: deploymentBase, one: readsOne, several: readSeveral},

	{name: ConfigurationError, rank: CustomerFix, one: "cannot start as configured", several: "cannot start as configured",
		stock:   []string{"The instance could not be started due to a configuration error"},
		aliases: []string{"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}},
	{name: ImageUnavailable, rank: CustomerFix, one: "could not pull its image", several: "could not pull their image",
		stock: []string{"The instance image could not be pulled"},
		aliases: []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
			"ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"}},
	{name: InstanceCrashing, rank: CustomerFix, one: "is repeatedly exiting and restarting", several: "are repeatedly exiting and restarting",
		stock:   []string{"The instance is repeatedly failing to start", "Instance stopped unexpectedly"},
		aliases: []string{"CrashLoopBackOff"}},
	{name: Failed, rank: CustomerFix, one: "has failed", several: "have failed", stock: []string{"Instance failed"}},

	{name: NotRunning, rank: Unknown, base: deploymentBase | workloadBase, one: "is not running", several: "are not running"},

	{name: Suspended, rank: OnPurpose, one: "is suspended", several: "are suspended",
		stock: []string{"Instance is suspended due to project suspension", "Instance is suspended and not serving traffic"}},
	{name: Stopped, rank: OnPurpose, one: "has stopped", several: "have stopped",
		stock: []string{"Instance has stopped"}, aliases: []string{"Stopping"}},

	{name: QuotaNotGranted, rank: Quota, one: "is waiting for quota", several: "are waiting for quota",
		stock: []string{"Quota exceeded"}, aliases: []string{"PendingQuota"}},

	{name: "ReferencedDataNotReady", rank: Data, base: deploymentBase, one: waitsOne, several: waitSeveral},
	{name: AwaitingPropagation, rank: Data, one: waitsOne, several: waitSeveral},
	{name: "Resolving", rank: Data, one: waitsOne, several: waitSeveral},

	{name: "NetworkProvisioning", rank: Working, base: deploymentBase, aliases: []string{"ProvisioningNetwork"}},
	{name: "NoMatchingLocation", rank: Working, base: deploymentBase},
	{name: Disrupted, rank: Working, one: "is being moved", several: "are being moved"},
	{name: Unschedulable, rank: Working, one: "cannot be scheduled yet", several: "cannot be scheduled yet"},

	{name: InstancesProvisioning, rank: Default, aliases: []string{"ProvisioningInstances"}},
	{name: NoAvailablePlacements, rank: Default},
	{name: NoAvailableDeployments, rank: Default},

	{name: "Pending"}, {name: "PendingEvaluation"}, {name: "PendingProgramming"}, {name: "ProgrammingInProgress"},
	{name: "Provisioning"}, {name: "SchedulingGatesPresent"}, {name: "Starting"}, {name: "Unknown"},
	{name: "LocationAssigned"},
}

// Phrases that several rows share.
const (
	readsOne    = "cannot read data it refers to"
	readSeveral = "cannot read data they refer to"
	waitsOne    = "is waiting for data"
	waitSeveral = "are waiting for data"
)
