package e2e

// The outputs of `kubectl why` in TestWhy.
const (
	whyReady = `
Workload shop/api is available: 3 of 3 instances ready.

Workload api                     3/3  Available
└─ placement main                3/3  Available
   └─ deployment api-0123456789  3/3  Available  at us
      └─ api-0123456789-0             Ready  2 more like this
`

	whyCause = `
Workload shop/api is not available: 0 of 3 instances ready.

3 of 3 instances are repeatedly exiting and restarting: Container "app" keeps
exiting (last exit code 1); restarting.

What to do
  InstanceCrashing: Find out why the process exits: see its logs and the exit
    code (137: killed, often for want of memory), and check its command,
    environment and capabilities.
`

	whyLie = whyCause + `
Workload api                     0/3  InstanceCrashing
│ stored: False InstancesProvisioning: Instances are being provisioned
└─ placement main                0/3  InstanceCrashing
   │ stored: False NoAvailableDeployments: No available deployments were found
   │ for the placement
   └─ deployment api-0123456789  0/3  InstanceCrashing  at us
      │ stored: False InstancesProvisioning: Instances are being provisioned
      └─ api-0123456789-0             InstanceCrashing  2 more like this
           Container "app" keeps exiting (last exit code 1); restarting

"stored" is what a status says where its instances say something else: Causeway
is not installed here, is paused, or is a moment behind.
`

	whyTruth = whyCause + `
Workload api                     0/3  InstanceCrashing
└─ placement main                0/3  InstanceCrashing
   └─ deployment api-0123456789  0/3  InstanceCrashing  at us
      └─ api-0123456789-0             InstanceCrashing  2 more like this
           Container "app" keeps exiting (last exit code 1); restarting
`

	whyHalfBlind = `
Workload shop/api is not available yet: 0 of 3 instances ready.

Instances are being provisioned.

What to do
  InstancesProvisioning: Wait a moment: instances are on their way and none
    has reported a failure.

Workload api                     0/3  InstancesProvisioning
└─ placement main                0/3  NoAvailableDeployments
   └─ deployment api-0123456789  0/3  InstancesProvisioning  at us, as its status says

Instances could not be read: instances.compute.datumapis.com is forbidden: User
"bob" cannot list resource "instances" in API group "compute.datumapis.com" in
the namespace "shop".
What is shown is what the statuses above say.
`

	whyPartly = `
Workload shop/api is available, but partly failing: 1 of 3 instances ready.

At least one available placement was found; placement "main": 2 of 3 instances
are repeatedly exiting and restarting.

What to do
  InstanceCrashing: Find out why the process exits: see its logs and the exit
    code (137: killed, often for want of memory), and check its command,
    environment and capabilities.

Workload api                     1/3  Available
└─ placement main                1/3  Available
   └─ deployment api-0123456789  1/3  Available  at us
      ├─ api-0123456789-1             InstanceCrashing  1 more like this
      │    Container "app" keeps exiting (last exit code 1); restarting
      └─ api-0123456789-0             Ready
`
)
