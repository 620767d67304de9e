package rollup_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// here is a deployment all of whose Instances are seen.
func here(placement string, t rollup.Tally) rollup.Deployment {
	return rollup.Deployment{Name: "web-" + placement, Placement: placement, Tally: t, Replicas: int32(t.Seen)}
}

// carried is a deployment none of whose Instances is seen.
func carried(placement string, ready, replicas int32, c metav1.Condition) rollup.Deployment {
	return rollup.Deployment{Name: "web-" + placement, Placement: placement, ReadyReplicas: ready, Replicas: replicas, Available: &c}
}

func withBase(d rollup.Deployment, reason, message string) rollup.Deployment {
	d.Available = says(reason, message)
	return d
}

func places(names ...string) (list []rollup.Placement) {
	for _, name := range names {
		list = append(list, rollup.Placement{Name: name})
	}
	return list
}

const (
	found     = "At least one available placement was found"
	foundHere = "At least one available deployment was found"
	noneHere  = "No available deployments were found for the placement"
)

func TestWorkloadAvailable(t *testing.T) {
	crash := func(n int) rollup.Failure { return fails("InstanceCrashing", n, 0, "because") }
	image := func(n int) rollup.Failure { return fails("ImageUnavailable", n, 1, "") }
	up := here("us", tally(1, 0))
	var eight []rollup.Deployment
	for i := range 8 {
		eight = append(eight, here(fmt.Sprint("p", i), tally(0, 0, image(1))))
	}
	tests := map[string]struct {
		in         rollup.Workload
		want       rollup.Verdict
		placements []rollup.Verdict
	}{
		"nothing at all": {
			want: isFalse("InstancesProvisioning", "No instances available yet"),
		},
		"all are on their way": {
			in:         rollup.Workload{Placements: places("us"), Deployments: []rollup.Deployment{here("us", tally(0, 1))}},
			want:       isFalse("InstancesProvisioning", "Instances are being provisioned"),
			placements: []rollup.Verdict{isFalse("NoAvailableDeployments", noneHere)},
		},
		"all well": {
			in:         rollup.Workload{Placements: places("us"), Deployments: []rollup.Deployment{up}},
			want:       isTrue("AvailablePlacementFound", found),
			placements: []rollup.Verdict{isTrue("AvailableDeploymentFound", foundHere)},
		},
		"all down for one reason: counts are summed, the lowest ordinal speaks": {
			in: rollup.Workload{Placements: places("eu", "us"), Deployments: []rollup.Deployment{
				here("us", tally(0, 1, fails("InstanceCrashing", 1, 0, "of us"))), here("eu", tally(0, 0, fails("InstanceCrashing", 2, 1, "of eu"))),
			}},
			want: isFalse("InstanceCrashing", "3 of 4 instances are repeatedly exiting and restarting: of us."),
			placements: []rollup.Verdict{
				isFalse("InstanceCrashing", "2 of 2 instances are repeatedly exiting and restarting: of eu."),
				isFalse("InstanceCrashing", "1 of 2 instances is repeatedly exiting and restarting: of us."),
			},
		},
		"all down for different reasons": {
			in: rollup.Workload{Placements: places("eu", "us"), Deployments: []rollup.Deployment{
				here("us", tally(0, 0, crash(1))), here("eu", tally(0, 0, image(1))),
			}},
			want: isFalse("ImageUnavailable", "1 of 2 instances could not pull its image. 1 of 2 instances is repeatedly exiting and restarting."),
			placements: []rollup.Verdict{
				isFalse("ImageUnavailable", "1 of 1 instances could not pull its image."),
				isFalse("InstanceCrashing", "1 of 1 instances is repeatedly exiting and restarting: because."),
			},
		},
		"a deployment's base wins and is told by its placement": {
			in: rollup.Workload{Placements: places("us"), Deployments: []rollup.Deployment{
				withBase(here("us", tally(0, 0, crash(1))), "RuntimeClassNotServed", "No cell  in us\nserves it"),
			}},
			want:       isFalse("RuntimeClassNotServed", `placement "us": No cell in us serves it`),
			placements: []rollup.Verdict{isFalse("RuntimeClassNotServed", `placement "us": No cell in us serves it`)},
		},
		"of equal bases the first placement, then the first deployment": {
			in: rollup.Workload{Deployments: []rollup.Deployment{
				{Name: "b", Placement: "us", Available: says("OutOfCheese", "1st")}, {Name: "c", Placement: "eu", Available: says("OutOfCheese", "4th")},
				{Name: "a", Placement: "us", Available: says("OutOfCheese", "2nd")}, {Name: "d", Placement: "eu", Available: says("OutOfCheese", "3rd")},
			}},
			want: isFalse("OutOfCheese", `placement "eu": 4th`),
		},
		"a carried deployment that is up": {
			in: rollup.Workload{Placements: places("us"), Deployments: []rollup.Deployment{
				carried("us", 2, 2, cond("Available", "True", "StableInstanceFound", "")),
			}},
			want:       isTrue("AvailablePlacementFound", found),
			placements: []rollup.Verdict{isTrue("AvailableDeploymentFound", foundHere)},
		},
		"a carried deployment's condition competes, Causeway's sentence or not": {
			in: rollup.Workload{Placements: places("eu", "us"), Deployments: []rollup.Deployment{
				carried("us", 0, 2, cond("Available", "False", "ImageUnavailable", "2 of 2 instances could not pull their image: no such tag.")),
				here("eu", tally(0, 0, crash(1))),
			}},
			want: isFalse("ImageUnavailable", `placement "us": 2 of 2 instances could not pull their image: no such tag.`),
			placements: []rollup.Verdict{
				isFalse("InstanceCrashing", "1 of 1 instances is repeatedly exiting and restarting: because."),
				isFalse("ImageUnavailable", `placement "us": 2 of 2 instances could not pull their image: no such tag.`),
			},
		},
		"a carried deployment's replicas count": {
			in: rollup.Workload{Deployments: []rollup.Deployment{
				carried("us", 0, 4, cond("Available", "False", "InstancesProvisioning", "Instances are being provisioned")),
				here("eu", tally(0, 0, crash(1))),
			}},
			want: isFalse("InstanceCrashing", "1 of 5 instances is repeatedly exiting and restarting: because."),
		},
		"a carried deployment's replicas count as seen": {
			in:   rollup.Workload{Deployments: []rollup.Deployment{{Name: "a", Placement: "us", Replicas: 1}}},
			want: isFalse("InstancesProvisioning", "Instances are being provisioned"),
		},
		"a deployment of which more is reported than seen is carried": {
			in: rollup.Workload{Deployments: []rollup.Deployment{
				{Name: "a", Placement: "us", Replicas: 3, Tally: tally(0, 0, crash(2)), Available: says("QuotaNotGranted", "1 of 3 desired instances pending quota")},
			}},
			want: isFalse("QuotaNotGranted", `placement "us": 1 of 3 desired instances pending quota`),
		},
		"the Workload's own base stands as it is": {
			in: rollup.Workload{Available: says("NoMatchingLocations", `Placement "us"  matches no location`), Placements: places("us"),
				Deployments: []rollup.Deployment{here("us", tally(0, 0, crash(1)))}},
			want:       isFalse("NoMatchingLocations", `Placement "us"  matches no location`),
			placements: []rollup.Verdict{isFalse("InstanceCrashing", "1 of 1 instances is repeatedly exiting and restarting: because.")},
		},
		"the Workload's own base comes before a deployment's equal": {
			in: rollup.Workload{Available: says("OutOfCheese", "no more cheese"),
				Deployments: []rollup.Deployment{withBase(here("us", tally(0, 1)), "OutOfCheese", "a none here")}},
			want: isFalse("OutOfCheese", "no more cheese"),
		},
		"a deployment's base of a higher order comes before the Workload's own": {
			in: rollup.Workload{Available: says("NoMatchingLocations", "nowhere"),
				Deployments: []rollup.Deployment{withBase(here("us", tally(0, 1)), "LocationMismatch", "elsewhere")}},
			want: isFalse("LocationMismatch", `placement "us": elsewhere`),
		},
		"a Workload's reason copied from a deployment is no base": {
			in:   rollup.Workload{Available: says("RuntimeClassNotServed", "x"), Deployments: []rollup.Deployment{here("us", tally(0, 1))}},
			want: isFalse("InstancesProvisioning", "Instances are being provisioned"),
		},
		"Causeway's own sentence about a deployment is no base": {
			in:   rollup.Workload{Available: says("OutOfCheese", `placement "us": no more cheese`), Deployments: []rollup.Deployment{here("us", tally(0, 1))}},
			want: isFalse("InstancesProvisioning", "Instances are being provisioned"),
		},
		"a missing network stands over ready Instances": {
			in:         rollup.Workload{Available: says("NetworkNotFound", "Unable to find networks: a"), Placements: places("us"), Deployments: []rollup.Deployment{up}},
			want:       isFalse("NetworkNotFound", "Unable to find networks: a"),
			placements: []rollup.Verdict{isTrue("AvailableDeploymentFound", foundHere)},
		},
		"every other base yields to ready Instances": {
			in:         rollup.Workload{Available: says("NoMatchingLocations", "x"), Placements: []rollup.Placement{{Name: "us", Available: says("NetworkNotFound", "x")}}, Deployments: []rollup.Deployment{up}},
			want:       isTrue("AvailablePlacementFound", found),
			placements: []rollup.Verdict{isTrue("AvailableDeploymentFound", foundHere)},
		},
		"a placement without deployments keeps its controller's word": {
			in: rollup.Workload{Placements: []rollup.Placement{{Name: "eu", Available: says("NoMatchingLocations", "No location matches.")}, {Name: "us"}},
				Deployments: []rollup.Deployment{up}},
			want: isTrue("AvailablePlacementFound", found+`; placement "eu" is not available: No location matches.`),
			placements: []rollup.Verdict{
				isFalse("NoMatchingLocations", "No location matches."),
				isTrue("AvailableDeploymentFound", foundHere),
			},
		},
		"a placement that lost its deployments is down": {
			in: rollup.Workload{Placements: []rollup.Placement{{Name: "eu", Available: &metav1.Condition{Status: "True"}}, {Name: "us"}},
				Deployments: []rollup.Deployment{up}},
			want: isTrue("AvailablePlacementFound", found+`; placement "eu" is not available: No instances available yet.`),
			placements: []rollup.Verdict{
				isFalse("NoAvailableDeployments", noneHere),
				isTrue("AvailableDeploymentFound", foundHere),
			},
		},
		"some up: those down by name, then those partly failing": {
			in: rollup.Workload{Placements: places("us"), Deployments: []rollup.Deployment{
				here("us", tally(1, 0, crash(2))), here("eu", tally(0, 0, image(1))), here("ap", tally(0, 3)),
				withBase(here("af", tally(0, 0, crash(1))), "RuntimeClassNotServed", "No cell serves it. Sorry."),
			}},
			want: isTrue("AvailablePlacementFound", found+`; placement "af" is not available: No cell serves it. Sorry`+
				`; placement "ap" is not available: Instances are being provisioned`+
				`; placement "eu" is not available: 1 of 1 instances could not pull its image`+
				`; placement "us": 2 of 3 instances are repeatedly exiting and restarting.`),
			placements: []rollup.Verdict{isTrue("AvailableDeploymentFound", foundHere+"; 2 of 3 instances are repeatedly exiting and restarting.")},
		},
		"a deployment that is down within a placement that is up": {
			in: rollup.Workload{Placements: places("us"), Deployments: []rollup.Deployment{up,
				{Name: "other", Placement: "us", Replicas: 2, Available: says("AmbiguousServingLocation", "two of them.")}}},
			want:       isTrue("AvailablePlacementFound", found+`; placement "us": two of them.`),
			placements: []rollup.Verdict{isTrue("AvailableDeploymentFound", foundHere+"; two of them.")},
		},
		"what the platform works on is no remark on a placement that is up": {
			in: rollup.Workload{Placements: places("us"), Deployments: []rollup.Deployment{here("us", tally(1, 0, fails("Disrupted", 1, 0, ""))),
				{Name: "other", Placement: "us", Available: says("NetworkProvisioning", "x")}}},
			want:       isTrue("AvailablePlacementFound", found),
			placements: []rollup.Verdict{isTrue("AvailableDeploymentFound", foundHere)},
		},
		"the base of a deployment that is up is no remark": {
			in:   rollup.Workload{Deployments: []rollup.Deployment{withBase(up, "RuntimeClassNotServed", "x")}},
			want: isTrue("AvailablePlacementFound", found),
		},
		"at most five placements": {
			in: rollup.Workload{Deployments: append([]rollup.Deployment{up}, eight...)},
			want: isTrue("AvailablePlacementFound", found+
				`; placement "p0" is not available: 1 of 1 instances could not pull its image; placement "p1" is not available: 1 of 1 instances could not pull its image`+
				`; placement "p2" is not available: 1 of 1 instances could not pull its image; placement "p3" is not available: 1 of 1 instances could not pull its image`+
				`; placement "p4" is not available: 1 of 1 instances could not pull its image; and 3 more placements.`),
		},
		"one more than five placements": {
			in: rollup.Workload{Deployments: append([]rollup.Deployment{up}, eight[:6]...)},
			want: isTrue("AvailablePlacementFound", found+
				`; placement "p0" is not available: 1 of 1 instances could not pull its image; placement "p1" is not available: 1 of 1 instances could not pull its image`+
				`; placement "p2" is not available: 1 of 1 instances could not pull its image; placement "p3" is not available: 1 of 1 instances could not pull its image`+
				`; placement "p4" is not available: 1 of 1 instances could not pull its image; and 1 more placement.`),
		},
		"a base without a message is told by its reason": {
			in:   rollup.Workload{Deployments: []rollup.Deployment{withBase(here("us", tally(0, 1)), "LocationMismatch", " ")}},
			want: isFalse("LocationMismatch", `placement "us": LocationMismatch`),
		},
		"an odd name is quoted": {
			in:   rollup.Workload{Deployments: []rollup.Deployment{withBase(here("u\"\n", tally(0, 1)), "LocationMismatch", "x")}},
			want: isFalse("LocationMismatch", `placement "u\"\n": x`),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, placements := rollup.WorkloadAvailable(tc.in)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("WorkloadAvailable (-want +got):\n%s", diff)
			}
			if tc.placements == nil {
				tc.placements = make([]rollup.Verdict, len(tc.in.Placements))
			}
			if diff := cmp.Diff(tc.placements, placements); diff != "" {
				t.Errorf("placements of WorkloadAvailable (-want +got):\n%s", diff)
			}
		})
	}
}
