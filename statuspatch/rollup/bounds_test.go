package rollup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

func TestALongNameIsCutBeforeItIsQuoted(t *testing.T) {
	d := withBase(here(strings.Repeat("é", 200), tally(0, 1)), "LocationMismatch", "x")
	got, _ := rollup.WorkloadAvailable(rollup.Workload{Deployments: []rollup.Deployment{d}})
	want := isFalse("LocationMismatch", `placement "`+strings.Repeat("é", 125)+`...": x`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("WorkloadAvailable (-want +got):\n%s", diff)
	}
}

func TestALongBaseKeepsTheMarkOfItsCut(t *testing.T) {
	down := withBase(here("eu", tally(0, 1)), "LocationMismatch", strings.Repeat("x", 5000))
	got, _ := rollup.WorkloadAvailable(rollup.Workload{Deployments: []rollup.Deployment{down, here("us", tally(1, 0))}})
	want := isTrue("AvailablePlacementFound", found+`; placement "eu" is not available: `+strings.Repeat("x", 4093)+"...")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("WorkloadAvailable (-want +got):\n%s", diff)
	}
}

// TestTheLongestMessagesFit holds MaxBase and the other bounds together: the
// longest names, reasons and texts, as many as are told, through both levels.
func TestTheLongestMessagesFit(t *testing.T) {
	longReason := func(i int) string { return strings.Repeat("R", reason.MaxLength-2) + fmt.Sprintf("%02d", i) }
	detail := strings.Repeat("d", rollup.MaxDetail)
	var many []rollup.Failure
	for i := range 20 {
		many = append(many, fails(longReason(i), 1_000_000_000, i, detail))
	}
	var w rollup.Workload
	for i := range 9 {
		// A placement's name that grows fourfold when it is quoted.
		d := here(strings.Repeat("\x01", 300)+fmt.Sprint(i), tally(0, 1))
		d.Placement = fmt.Sprint(i) + d.Placement
		w.Deployments = append(w.Deployments, withBase(d, longReason(0), strings.Repeat("b", rollup.MaxMessage)))
	}
	allDown, _ := rollup.WorkloadAvailable(w)
	w.Deployments = append(w.Deployments, here("us", tally(1, 0, many...)))
	someUp, _ := rollup.WorkloadAvailable(w)
	verdicts := map[string]rollup.Verdict{
		"a deployment that is down": rollup.DeploymentAvailable(here("us", tally(0, 0, many...))),
		"a deployment that is up":   rollup.DeploymentAvailable(here("us", tally(1, 0, many...))),
		"a Workload that is down":   allDown,
		"a Workload that is up":     someUp,
	}
	for name, v := range verdicts {
		t.Logf("%s: %d bytes", name, len(v.Message))
		if fault := storable(v); fault != "" {
			t.Errorf("%s: the API server would refuse it: %s", name, fault)
		}
	}
}
