package rollup_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// One Instance crashes while its condition Ready has not caught up yet.
func Example() {
	c := rollup.ReadInstance(false, []metav1.Condition{
		{Type: "Ready", Status: "True", Reason: "Available", Message: "Instance is ready"},
		{Type: "Available", Status: "False", Reason: "InstanceCrashing",
			Message: `container "app" has exited and restarted 3 times without staying up for 5 minutes. Its last exit was with code 1.`},
	})
	d := rollup.Deployment{
		Name: "web-us", Placement: "us", Desired: 1, Replicas: 1,
		Tally: rollup.Sum([]rollup.Instance{{Member: rollup.Member{Ordinal: 0, Name: "web-us-0"}, Contribution: c}}),
	}
	v := rollup.DeploymentAvailable(d)
	fmt.Println(v.Status, v.Reason)
	fmt.Println(v.Message)
	v, _ = rollup.WorkloadAvailable(rollup.Workload{Deployments: []rollup.Deployment{d}})
	fmt.Println(v.Reason)
	// Output:
	// False InstanceCrashing
	// 1 of 1 instances is repeatedly exiting and restarting: container "app" has exited and restarted 3 times without staying up for 5 minutes. Its last exit was with code 1.
	// InstanceCrashing
}
