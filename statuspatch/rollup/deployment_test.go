package rollup_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

func TestDeploymentAvailable(t *testing.T) {
	const exits = `container "app" has exited and restarted 3 times without staying up for 5 minutes. Its last exit was with code 1.`
	long := strings.Repeat("€", 340) + "..."
	tests := map[string]struct {
		tally rollup.Tally
		base  *metav1.Condition
		want  rollup.Verdict
	}{
		"no Instance is seen": {
			want: isFalse("InstancesProvisioning", "No instances available yet"),
		},
		"all are on their way": {
			tally: tally(0, 2),
			want:  isFalse("InstancesProvisioning", "Instances are being provisioned"),
		},
		"only deleting ones are seen": {
			tally: rollup.Tally{Seen: 2},
			want:  isFalse("InstancesProvisioning", "Instances are being provisioned"),
		},
		"all ready": {
			tally: tally(3, 0),
			want:  isTrue("StableInstanceFound", "3/3 instances are ready"),
		},
		"one crashes, with detail": {
			tally: tally(0, 0, fails("InstanceCrashing", 1, 0, exits)),
			want:  isFalse("InstanceCrashing", "1 of 1 instances is repeatedly exiting and restarting: "+exits),
		},
		"one cannot pull, without detail": {
			tally: tally(0, 0, fails("ImageUnavailable", 1, 0, "")),
			want:  isFalse("ImageUnavailable", "1 of 1 instances could not pull its image."),
		},
		"a detail without a stop gets one": {
			tally: tally(0, 1, fails("ConfigurationError", 2, 0, "no containers")),
			want:  isFalse("ConfigurationError", "2 of 3 instances cannot start as configured: no containers."),
		},
		"a detail that asks or shouts gets none": {
			tally: tally(0, 0, fails("Failed", 2, 0, "out of cheese!")),
			want:  isFalse("Failed", "2 of 2 instances have failed: out of cheese!"),
		},
		"a detail that was cut gets none": {
			tally: tally(0, 0, fails("Failed", 1, 0, long)),
			want:  isFalse("Failed", "1 of 1 instances has failed: "+long),
		},
		"a detail is data and never a format": {
			tally: tally(0, 0, fails("Failed", 1, 0, "%s %d %!")),
			want:  isFalse("Failed", "1 of 1 instances has failed: %s %d %!"),
		},
		"three images and one crash: the order within a rank, not the count": {
			tally: tally(0, 0, fails("InstanceCrashing", 1, 0, exits), fails("ImageUnavailable", 3, 1, "")),
			want: isFalse("ImageUnavailable",
				"3 of 4 instances could not pull their image. 1 of 4 instances is repeatedly exiting and restarting."),
		},
		"further reasons, at most three, then a count; what the platform works on makes no sentence": {
			tally: tally(0, 1, fails("Disrupted", 5, 9, ""), fails("AwaitingPropagation", 1, 8, ""), fails("QuotaNotGranted", 1, 7, ""),
				fails("Stopped", 2, 5, "x"), fails("OutOfCheese", 2, 4, "x"), fails("InstanceCrashing", 1, 3, "because")),
			want: isFalse("InstanceCrashing", "1 of 13 instances is repeatedly exiting and restarting: because."+
				" 2 of 13 instances are not running (OutOfCheese). 2 of 13 instances have stopped."+
				" 1 of 13 instances is waiting for quota. 1 more instance is not running for other reasons."),
		},
		"several are left over": {
			tally: tally(0, 0, fails("Resolving", 1, 8, ""), fails("AwaitingPropagation", 1, 8, ""), fails("QuotaNotGranted", 1, 7, ""),
				fails("Stopped", 1, 5, "x"), fails("Suspended", 1, 4, "x"), fails("SourceNotFound", 1, 3, "")),
			want: isFalse("SourceNotFound", "1 of 6 instances cannot read data it refers to."+
				" 1 of 6 instances is suspended. 1 of 6 instances has stopped."+
				" 1 of 6 instances is waiting for quota. 2 more instances are not running for other reasons."),
		},
		"what the platform works on leads where there is nothing worse, alone": {
			tally: tally(0, 1, fails("Unschedulable", 2, 0, "0/9 nodes fit"), fails("Disrupted", 1, 1, "")),
			want:  isFalse("Disrupted", "1 of 4 instances is being moved."),
		},
		"a rank 2 reason with detail": {
			tally: tally(0, 0, fails("Unschedulable", 2, 0, "0/9 nodes fit")),
			want:  isFalse("Unschedulable", "2 of 2 instances cannot be scheduled yet: 0/9 nodes fit."),
		},
		"unknown reasons go by name": {
			tally: tally(0, 0, fails("Zebra", 1, 0, ""), fails("Apple", 1, 1, "")),
			want:  isFalse("Apple", "1 of 2 instances is not running (Apple). 1 of 2 instances is not running (Zebra)."),
		},
		"a failure whose reason could not be written": {
			tally: tally(0, 0, fails("NotRunning", 1, 0, "x")),
			want:  isFalse("NotRunning", "1 of 1 instances is not running: x."),
		},
		"one of three is ready": {
			tally: tally(2, 0, fails("InstanceCrashing", 1, 0, exits)),
			want:  isTrue("StableInstanceFound", "2/3 instances are ready; 1 is repeatedly exiting and restarting"),
		},
		"clauses in order, without what the platform works on": {
			tally: tally(1, 1, fails("QuotaNotGranted", 2, 0, "x"), fails("NetworkFailedToCreate", 1, 0, "x"), fails("Disrupted", 1, 0, "x")),
			want:  isTrue("StableInstanceFound", "1/6 instances are ready; 1 has no network; 2 are waiting for quota"),
		},
		"at most eight clauses": {
			tally: tally(1, 0, fails("A1", 1, 0, ""), fails("A2", 1, 0, ""), fails("A3", 1, 0, ""), fails("A4", 1, 0, ""), fails("A5", 1, 0, ""),
				fails("A6", 1, 0, ""), fails("A7", 1, 0, ""), fails("A8", 1, 0, ""), fails("A9", 1, 0, "")),
			want: isTrue("StableInstanceFound", "1/10 instances are ready; 1 is not running (A1); 1 is not running (A2); 1 is not running (A3)"+
				"; 1 is not running (A4); 1 is not running (A5); 1 is not running (A6); 1 is not running (A7); 1 is not running (A8)"+
				"; 1 more is not running for other reasons"),
		},
		"several beyond eight clauses": {
			tally: tally(1, 0, fails("A1", 1, 0, ""), fails("A2", 1, 0, ""), fails("A3", 1, 0, ""), fails("A4", 1, 0, ""), fails("A5", 1, 0, ""),
				fails("A6", 1, 0, ""), fails("A7", 1, 0, ""), fails("A8", 2, 0, ""), fails("A9", 3, 0, ""), fails("B1", 1, 0, "")),
			want: isTrue("StableInstanceFound", "1/14 instances are ready; 1 is not running (A1); 1 is not running (A2); 1 is not running (A3)"+
				"; 1 is not running (A4); 1 is not running (A5); 1 is not running (A6); 1 is not running (A7); 2 are not running (A8)"+
				"; 4 more are not running for other reasons"),
		},
		"a base of rank 8 stands alone, as it is": {
			tally: tally(0, 0, fails("InstanceCrashing", 1, 0, exits)),
			base:  says("RuntimeClassNotServed", ` No cell in us serves "x",  sorry`),
			want:  isFalse("RuntimeClassNotServed", ` No cell in us serves "x",  sorry`),
		},
		"a failure outranks a base of rank 2": {
			tally: tally(0, 0, fails("ImageUnavailable", 1, 0, "")),
			base:  says("NetworkProvisioning", "Network is being provisioned"),
			want:  isFalse("ImageUnavailable", "1 of 1 instances could not pull its image."),
		},
		"a base of rank 2 is more than the default": {
			tally: tally(0, 1),
			base:  says("NetworkProvisioning", "Network is being provisioned"),
			want:  isFalse("NetworkProvisioning", "Network is being provisioned"),
		},
		"a base is told where no Instance is seen": {
			base: says("LocationMismatch", "wants us, serves eu"),
			want: isFalse("LocationMismatch", "wants us, serves eu"),
		},
		"a base of an older name keeps it": {
			tally: tally(0, 0, fails("Failed", 1, 0, "")),
			base:  says("CityCodeMismatch", "wants us, serves eu"),
			want:  isFalse("CityCodeMismatch", "wants us, serves eu"),
		},
		"the default of an older name is no base": {
			tally: tally(0, 0, fails("Stopped", 1, 0, "")),
			base:  says("ProvisioningInstances", "x"),
			want:  isFalse("Stopped", "1 of 1 instances has stopped."),
		},
		"an unknown base outranks suspension": {
			tally: tally(0, 0, fails("Suspended", 1, 0, "")),
			base:  says("OutOfCheese", "no more cheese"),
			want:  isFalse("OutOfCheese", "no more cheese"),
		},
		"an unknown base comes before an Instance's of the same name": {
			tally: tally(0, 0, fails("OutOfCheese", 1, 0, "x")),
			base:  says("OutOfCheese", "no more cheese"),
			want:  isFalse("OutOfCheese", "no more cheese"),
		},
		"an unknown base goes by name": {
			tally: tally(0, 0, fails("Apple", 1, 0, "x")),
			base:  says("OutOfCheese", "no more cheese"),
			want:  isFalse("Apple", "1 of 1 instances is not running (Apple): x."),
		},
		"a source reason of the controller comes before the Instances'": {
			tally: tally(0, 0, fails("SourceNotFound", 1, 0, "a")),
			base:  says("SourceNotFound", `ConfigMap "a" not found`),
			want:  isFalse("SourceNotFound", `ConfigMap "a" not found`),
		},
		"Causeway's own sentence is no base": {
			tally: tally(0, 1),
			base:  says("SourceNotFound", "1 of 1 instances cannot read data it refers to: a."),
			want:  isFalse("InstancesProvisioning", "Instances are being provisioned"),
		},
		"Causeway's own sentence with an unknown reason is no base": {
			tally: tally(0, 1),
			base:  says("OutOfCheese", "1 of 1 instances is not running (OutOfCheese)."),
			want:  isFalse("InstancesProvisioning", "Instances are being provisioned"),
		},
		"a reason that controllers copy is no base": {
			tally: tally(0, 1),
			base:  says("QuotaNotGranted", "1 of 1 desired instances pending quota"),
			want:  isFalse("InstancesProvisioning", "Instances are being provisioned"),
		},
		"a base whose reason the API refuses is none": {
			tally: tally(0, 1),
			base:  says("out of cheese", "x"),
			want:  isFalse("InstancesProvisioning", "Instances are being provisioned"),
		},
		"a base that is Unknown is none": {
			tally: tally(0, 1),
			base:  &metav1.Condition{Type: "Available", Status: "Unknown", Reason: "LocationMismatch"},
			want:  isFalse("InstancesProvisioning", "Instances are being provisioned"),
		},
		"a ready Instance stands over every base": {
			tally: tally(1, 0),
			base:  says("RuntimeClassNotServed", "x"),
			want:  isTrue("StableInstanceFound", "1/1 instances are ready"),
		},
		"a base's message that the API refuses is cut": {
			base: says("LocationMismatch", strings.Repeat("€", 11000)),
			want: isFalse("LocationMismatch", strings.Repeat("€", 10921)+"..."),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := rollup.DeploymentAvailable(rollup.Deployment{Tally: tc.tally, Available: tc.base})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("DeploymentAvailable (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCarried(t *testing.T) {
	tests := map[string]struct {
		replicas int32
		seen     int
		want     bool
	}{
		"none is seen":                         {replicas: 2, seen: 0, want: true},
		"none is seen and none reported":       {replicas: 0, seen: 0, want: true},
		"the status counts more":               {replicas: 3, seen: 2, want: true},
		"all are seen":                         {replicas: 2, seen: 2},
		"more are seen than the status counts": {replicas: 1, seen: 2},
		"the status was never written":         {replicas: 0, seen: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := rollup.Deployment{Replicas: tc.replicas, Tally: rollup.Tally{Seen: tc.seen}}
			if got := d.Carried(); got != tc.want {
				t.Errorf("Carried with %d replicas, %d seen = %t, want %t", tc.replicas, tc.seen, got, tc.want)
			}
		})
	}
}
