package rollup_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

func TestDeploymentReplicasReady(t *testing.T) {
	tests := map[string]struct {
		desired int32
		tally   rollup.Tally
		base    *metav1.Condition
		want    rollup.Verdict
	}{
		"all desired are ready": {
			desired: 2, tally: tally(2, 0),
			want: isTrue("ReplicasAvailable", "2/2 replicas available"),
		},
		"more than desired are ready": {
			desired: 1, tally: tally(3, 0),
			want: isTrue("ReplicasAvailable", "3/1 replicas available"),
		},
		"none is desired": {
			desired: 0, tally: tally(0, 1),
			want: isTrue("ReplicasAvailable", "0/0 replicas available"),
		},
		"none is ready yet": {
			desired: 1, tally: tally(0, 1),
			want: isFalse("InstancesProvisioning", "0/1 replicas available"),
		},
		"none is ready for a cause": {
			desired: 1, tally: tally(0, 0, fails("InstanceCrashing", 1, 0, "x")),
			want: isFalse("InstanceCrashing", "0/1 replicas available"),
		},
		"none is ready for a base": {
			desired: 1, tally: tally(0, 0, fails("InstanceCrashing", 1, 0, "x")), base: says("RuntimeClassNotServed", "x"),
			want: isFalse("RuntimeClassNotServed", "0/1 replicas available"),
		},
		"some are ready, the best failure is told": {
			desired: 3, tally: tally(1, 0, fails("Stopped", 1, 0, "x"), fails("ImageUnavailable", 1, 1, "x")),
			want: isFalse("ImageUnavailable", "1/3 replicas available"),
		},
		"some are ready, the rest are on their way": {
			desired: 3, tally: tally(1, 2),
			want: isFalse("InstancesProvisioning", "1/3 replicas available"),
		},
		"quota comes first, before data and any failure": {
			desired: 5, tally: tally(1, 0, fails("AwaitingPropagation", 1, 0, ""), fails("QuotaNotGranted", 2, 1, ""), fails("Failed", 1, 2, "")),
			want: isFalse("QuotaExceeded", "2 of 5 desired replicas are pending quota"),
		},
		"quota is told even if enough are ready": {
			desired: 1, tally: tally(1, 0, fails("QuotaNotGranted", 1, 1, "")),
			want: isFalse("QuotaExceeded", "1 of 1 desired replicas are pending quota"),
		},
		"all reasons of waiting for data are added up": {
			desired: 4, tally: tally(1, 0, fails("AwaitingPropagation", 1, 0, ""), fails("Resolving", 2, 1, "")),
			want: isFalse("AwaitingPropagation", "3 of 4 desired replicas are waiting for referenced data companions"),
		},
		"data that is missing is no waiting": {
			desired: 1, tally: tally(0, 0, fails("SourceNotFound", 1, 0, "")),
			want: isFalse("SourceNotFound", "0/1 replicas available"),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := rollup.Deployment{Desired: tc.desired, Tally: tc.tally, Available: tc.base}
			got := rollup.DeploymentReplicasReady(d, rollup.DeploymentAvailable(d))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("DeploymentReplicasReady (-want +got):\n%s", diff)
			}
		})
	}
}
