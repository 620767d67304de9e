package reason

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTableOrder repeats the order on purpose: it is what users are promised,
// so that moving a line by accident shows.
func TestTableOrder(t *testing.T) {
	want := []string{
		"8: RuntimeClassNotServed(d) LocationMismatch(d) AmbiguousServingLocation(d) NetworkNotFound(w) NoMatchingLocations(w)" +
			" NoLocations(w) NoCandidateLocations(w) NetworkFailedToCreate SourceNotFound(d) SourceUnauthorized(d)" +
			" SourceTooLarge(d) SourceNameTooLong(d)",
		"7: ConfigurationError ImageUnavailable InstanceCrashing Failed",
		"6: NotRunning(d)(w)",
		"5: Suspended Stopped",
		"4: QuotaNotGranted",
		"3: ReferencedDataNotReady(d) AwaitingPropagation Resolving",
		"2: NetworkProvisioning(d) NoMatchingLocation(d) Disrupted Unschedulable",
		"1: InstancesProvisioning NoAvailablePlacements NoAvailableDeployments",
		"0: Pending PendingEvaluation PendingProgramming ProgrammingInProgress Provisioning SchedulingGatesPresent" +
			" Starting Unknown LocationAssigned",
	}
	var got []string
	last := Rank(9)
	for _, r := range table {
		if r.rank > last {
			t.Errorf("%s has rank %d below a row of rank %d, want ranks to descend", r.name, r.rank, last)
		}
		if r.rank != last {
			got = append(got, string('0'+byte(r.rank))+":")
			last = r.rank
		}
		line := &got[len(got)-1]
		*line += " " + r.name
		if DeploymentBase(r.name) {
			*line += "(d)"
		}
		if WorkloadBase(r.name) {
			*line += "(w)"
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestTableIsWellFormed(t *testing.T) {
	seen := map[string]string{}
	for _, r := range table {
		for _, name := range append([]string{r.name}, r.aliases...) {
			if !Valid(name) {
				t.Errorf("%q is no valid condition reason", name)
			}
			if other, ok := seen[name]; ok {
				t.Errorf("%q stands for both %s and %s", name, other, r.name)
			}
			seen[name] = r.name
		}
		if (r.one == "") != (r.several == "") {
			t.Errorf("%s has a phrase for one number only", r.name)
		}
		if r.one == "" && r.base == 0 && r.rank > Default {
			t.Errorf("%s has no phrase, but Instances say it", r.name)
		}
		for _, phrase := range []string{r.one, r.several} {
			if strings.ContainsAny(phrase, ".:;%") {
				t.Errorf("the phrase %q of %s contains punctuation that the grammar needs", phrase, r.name)
			}
		}
		for _, stock := range r.stock {
			if !IsStock(r.name, stock) {
				t.Errorf("IsStock(%q, %q) = false, want every listed sentence to be stock", r.name, stock)
			}
		}
	}
}
