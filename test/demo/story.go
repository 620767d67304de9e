package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/platform"
)

// What the steps have in common.
var (
	crashLoop = platform.CrashLoop
	running   = platform.Running

	provisioning = waits("the platform makes a deployment and three Instances",
		both(ready(3, metav1.ConditionUnknown, "Provisioning"), counted(0, 3)))
	allReady = waits("the platform counts three ready Instances",
		both(ready(3, metav1.ConditionTrue, "Available"), counted(3, 3)))
)

// story is the whole demo.
var story = []step{
	{
		name:  "The lie:",
		title: "today's platform, without Causeway, while all three Instances crash-loop",
		acts: []act{
			run("apply -f workload.yaml", `workload.compute.datumapis.com/api created`),
			provisioning,
			reports("the provider reports all three as running", running, 0, 1, 2),
			allReady,
			reports("the provider reports all three as crash-looping", crashLoop, 0, 1, 2),
			waits("the platform counts no ready Instance", counted(0, 3)),
			run("get instances", `
NAME               READY   REASON             AVAILABLE   AGE
api-<hash>-0   False   InstanceCrashing   False       <age>
api-<hash>-1   False   InstanceCrashing   False       <age>
api-<hash>-2   False   InstanceCrashing   False       <age>`),
			run("get workload api -o wide", `
NAME   AVAILABLE   REASON                  READY   DESIRED   AGE     MESSAGE
api    False       InstancesProvisioning   0       3         <age>   Instances are being provisioned`),
			reports("the provider reports the first one as running again", running, 0),
			waits("the platform counts one ready Instance", counted(1, 3)),
			run("get workload api -o wide", `
NAME   AVAILABLE   REASON                    READY   DESIRED   AGE     MESSAGE
api    True        AvailablePlacementFound   1       3         <age>   At least one available placement was found`),
			run("delete workload api", `workload.compute.datumapis.com "api" deleted from default namespace`),
			waits("the platform removes its deployment and its Instances", nothingLeft),
		},
	},
	{
		name:  "Install:",
		title: "deploy/overlays/default, one causeway webhook, two causeway statuspatch",
		acts:  []act{happens("Causeway is installed and ready", install)},
	},
	{
		name:  "(a)",
		title: "a container adds a capability that its runtime class does not grant: refused",
		acts: []act{
			run("apply -f workload-sys-admin.yaml",
				`The Workload "api" is invalid: spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.add[1]: Forbidden: `+
					`capability "SYS_ADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; `+
					`runtime class "general-purpose" grants everything this object adds`),
		},
	},
	{
		name:  "(b)",
		title: "the corrected Workload is accepted",
		acts: []act{
			run("apply -f workload.yaml", `workload.compute.datumapis.com/api created`),
			provisioning,
		},
	},
	{
		name:  "(c)",
		title: "the Workload while it is provisioned, then three ready Instances",
		acts: []act{
			run("get workload api -o wide", `
NAME   AVAILABLE   REASON                  READY   DESIRED   AGE     MESSAGE
api    False       InstancesProvisioning   0       3         <age>   Instances are being provisioned`),
			reports("the provider reports all three as running", running, 0, 1, 2),
			allReady,
			run("get instances", `
NAME               READY   REASON      AVAILABLE   AGE
api-<hash>-0   True    Available   True        <age>
api-<hash>-1   True    Available   True        <age>
api-<hash>-2   True    Available   True        <age>`),
			run("get workload api -o wide", `
NAME   AVAILABLE   REASON                    READY   DESIRED   AGE     MESSAGE
api    True        AvailablePlacementFound   3       3         <age>   At least one available placement was found`),
		},
	},
	{
		name:  "(d)",
		title: "every Instance crash-loops: the very next read says so, and it stays so",
		acts: []act{
			reports("the provider reports all three as crash-looping", crashLoop, 0, 1, 2),
			// READY is the platform's own count, which it has not always done by now.
			run("get workload api -o wide", `
NAME   AVAILABLE   REASON             READY   DESIRED   AGE     MESSAGE
api    False       InstanceCrashing   <n>     3         <age>   3 of 3 instances are repeatedly exiting and restarting: Container "app" keeps exiting (last exit code 1); restarting.`),
			waits("the platform's controllers write their status beside it", counted(0, 3)),
			run("get workload api -o wide", `
NAME   AVAILABLE   REASON             READY   DESIRED   AGE     MESSAGE
api    False       InstanceCrashing   0       3         <age>   3 of 3 instances are repeatedly exiting and restarting: Container "app" keeps exiting (last exit code 1); restarting.`),
			why("api", whyCrashing),
		},
	},
	{
		name:  "(e)",
		title: "one recovers: available again, and what is still wrong stands beside it",
		acts: []act{
			reports("the provider reports the first one as running again", running, 0),
			waits("the platform makes it Ready", ready(1, metav1.ConditionTrue, "Available")),
			run("get workload api -o wide", `
NAME   AVAILABLE   REASON                    READY   DESIRED   AGE     MESSAGE
api    True        AvailablePlacementFound   <n>     3         <age>   At least one available placement was found; placement "main": 2 of 3 instances are repeatedly exiting and restarting.`),
			why("api", whyPartly),
		},
	},
	{
		name:  "(f)",
		title: "all recover: nothing is left to say",
		acts: []act{
			reports("the provider reports the other two as running again", running, 1, 2),
			waits("the platform makes them Ready", ready(3, metav1.ConditionTrue, "Available")),
			run("get workload api -o wide", `
NAME   AVAILABLE   REASON                    READY   DESIRED   AGE     MESSAGE
api    True        AvailablePlacementFound   <n>     3         <age>   At least one available placement was found`),
			why("api", whyReady),
		},
	},
	{
		name:  "(g)",
		title: "the active statuspatch is killed, and an image becomes unavailable: the standby tells",
		acts: []act{
			happens("the active causeway statuspatch is killed", kill),
			reports("the provider reports the image as unavailable, and its writes pass", platform.ImageUnavailable, 0, 1, 2),
			{line: "# the standby takes over; the promise is 5 s", do: parentsSay("ImageUnavailable"), want: "both parents are true from <time> after the kill on"},
			run("get workloaddeployments -o wide", `
NAME             AVAILABLE   REASON             READY   DESIRED   REPLICAS   AGE     LOCATION   MESSAGE
api-<hash>   False       ImageUnavailable   <n>     3         3          <age>   us         3 of 3 instances could not pull their image: Image "registry.example/api:1" for container "app" could not be pulled anonymously.`),
			run("get workload api -o wide", `
NAME   AVAILABLE   REASON             READY   DESIRED   AGE     MESSAGE
api    False       ImageUnavailable   <n>     3         <age>   3 of 3 instances could not pull their image: Image "registry.example/api:1" for container "app" could not be pulled anonymously.`),
		},
	},
}
