package computeapi

// Labels (section 2). WorkloadDeploymentUIDLabel on a projected Instance holds
// the UID of another plane's deployment: never join by it.
const (
	LocationLabel               = Group + "/location"
	InstanceIndexLabel          = Group + "/instance-index"
	WorkloadUIDLabel            = Group + "/workload-uid"
	WorkloadNameLabel           = Group + "/workload-name"
	WorkloadDeploymentUIDLabel  = Group + "/workload-deployment-uid"
	WorkloadDeploymentNameLabel = Group + "/workload-deployment-name"
	PlacementNameLabel          = Group + "/placement-name"
	RuntimeClassLabel           = Group + "/runtime-class"

	ServiceNameLabel = "services.miloapis.com/service-name"
	ServiceName      = Group

	// CityCodeLabel is what the deprecated cityCodes of a placement select.
	CityCodeLabel = "topology.datum.net/city-code"
)

// Annotations (section 2).
const (
	SuspendedAnnotation           = Group + "/suspended"
	ReferencedDataErrorAnnotation = Group + "/referenced-data-error"
	RestartedAtAnnotation         = Group + "/restartedAt"
)

// Scheduling gates, in the order in which they are set (section 2).
const (
	NetworkGate        = "Network"
	QuotaGate          = "Quota"
	ReferencedDataGate = "ReferencedData"
)

// Condition types (section 3.1).
const (
	AvailableCondition           = "Available"
	ReadyCondition               = "Ready"
	ProgrammedCondition          = "Programmed"
	QuotaGrantedCondition        = "QuotaGranted"
	ReferencedDataReadyCondition = "ReferencedDataReady"
	ReplicasReadyCondition       = "ReplicasReady"
)
