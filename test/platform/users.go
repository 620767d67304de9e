package platform

// The users as which the platform's writers speak. They are ordinary users: all
// they may do stands in rbac.yaml.
const (
	WorkloadControllerUser   = "platform-workload-controller"
	DeploymentControllerUser = "platform-deployment-controller"
	InstanceControllerUser   = "platform-instance-controller"
	ProviderUser             = "platform-provider"
	FederatorUser            = "platform-federator"
	StatusSyncerUser         = "platform-status-syncer"
	DataResolverUser         = "platform-data-resolver"
	GarbageCollectorUser     = "platform-garbage-collector"
)

// Users returns the names of all users of the platform.
func Users() []string {
	return []string{
		WorkloadControllerUser, DeploymentControllerUser, InstanceControllerUser, ProviderUser,
		FederatorUser, StatusSyncerUser, DataResolverUser, GarbageCollectorUser,
	}
}
