package podstate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

const (
	crashed3 = `container "app" has exited and restarted 3 times without staying up for 5 minutes. Its last exit was with code 1.`
	crashed4 = `container "app" has exited and restarted 4 times without staying up for 5 minutes. Its last exit was with code 1.`
	noImage  = `container "app" could not pull its image "r.example/app:1": it was not found. Correct its name or tag, or push it.`
)

var (
	longAgo   = metav1.NewTime(noon.Add(-time.Hour))
	well      = podstate.Verdict{Standing: podstate.Well, Rule: "well"}
	unsettled = podstate.Verdict{Rule: "starting"}
	crashing  = fails("InstanceCrashing", crashed3)
)

func fails(reason, sentence string) podstate.Verdict {
	return podstate.Verdict{Standing: podstate.Failing, Rule: "any", Reason: reason, Sentence: sentence}
}

// available is "status reason message" as a condition of an hour ago; empty is
// none.
func available(s string) *metav1.Condition {
	if s == "" {
		return nil
	}
	f := strings.SplitN(s+"  ", " ", 3)
	return &metav1.Condition{Type: "Available", Status: metav1.ConditionStatus(f[0]), Reason: f[1],
		Message: strings.TrimSpace(f[2]), LastTransitionTime: longAgo, ObservedGeneration: 3}
}

func TestCorrect(t *testing.T) {
	const (
		isTrue   = "True Available Instance is available"
		isFalse  = "False InstanceCrashing " + crashed3
		untouchd = "untouched"
	)
	tests := map[string]struct {
		verdict          podstate.Verdict
		stored, incoming string
		want             string
		same             bool // it equals what is there or what comes: nothing to write
	}{
		"a failing Pod proves a stored True false":        {crashing, isTrue, "", isFalse, false},
		"a failing Pod corrects a provider's True":        {crashing, isTrue, isTrue, isFalse, false},
		"and again, with what is stored":                  {crashing, isFalse, isTrue, isFalse, false},
		"a stored failure is not written again":           {crashing, isFalse, "", isFalse, true},
		"an incoming failure passes as it is":             {crashing, isFalse, isFalse, isFalse, true},
		"a restart alone keeps the stored sentence":       {fails("InstanceCrashing", crashed4), isFalse, "", isFalse, true},
		"and keeps it in a provider's True":               {fails("InstanceCrashing", crashed4), isFalse, isTrue, isFalse, false},
		"another reason is written":                       {fails("ImageUnavailable", noImage), isFalse, "", "False ImageUnavailable " + noImage, false},
		"progress is replaced by the failure":             {crashing, "Unknown Provisioning Instance is provisioning", "", isFalse, false},
		"the CRD's default is replaced by the failure":    {crashing, "Unknown Pending Waiting for controller", "", isFalse, false},
		"a provider's stock sentence is replaced":         {crashing, "Unknown InstanceCrashing The instance is repeatedly failing to start", "", isFalse, false},
		"a provider's own words for it are replaced":      {crashing, `False InstanceCrashing Container "app" keeps exiting (last exit code 1); restarting`, "", isFalse, false},
		"no condition becomes one":                        {crashing, "", "", isFalse, false},
		"a suspended Instance stays so":                   {crashing, "False Suspended Instance is suspended and not serving traffic.", "", untouchd, false},
		"one that waits for quota stays so":               {crashing, "False PendingQuota Quota exceeded", "", untouchd, false},
		"one that is being suspended passes":              {crashing, isFalse, "False Suspended Instance is suspended and not serving traffic.", untouchd, false},
		"a provider's refusal outranks a crash":           {crashing, "False ConfigurationError The instance declares no containers to run, so the instance cannot start.", "", untouchd, false},
		"and passes over it":                              {crashing, isFalse, "False ConfigurationError The instance declares no containers to run, so the instance cannot start.", untouchd, false},
		"an unknown failure stays":                        {fails("Disrupted", "its Pod was evicted from its node."), "False OutOfCheese none left", "", untouchd, false},
		"a well Pod takes back what was said of it":       {well, isFalse, "", isTrue, false},
		"in an incoming copy of it, too":                  {well, isFalse, isFalse, isTrue, false},
		"a well Pod lets a provider's True pass":          {well, isFalse, isTrue, untouchd, false},
		"a well Pod has no say on a suspension":           {well, "False Suspended Instance is suspended and not serving traffic.", "", untouchd, false},
		"a well Pod has no say on a provider's failure":   {well, "False ConfigurationError The instance requests a volume the platform cannot attach, so the instance cannot start.", "", untouchd, false},
		"a well Pod leaves True alone":                    {well, isTrue, "", untouchd, false},
		"a well Pod leaves progress alone":                {well, "Unknown Provisioning Instance is provisioning", "", untouchd, false},
		"an unsettled Pod holds on to what was said":      {unsettled, isFalse, isTrue, isFalse, false},
		"an unsettled Pod lets progress pass":             {unsettled, isFalse, "Unknown Provisioning Instance is provisioning", untouchd, false},
		"an unsettled Pod is no reason to write":          {unsettled, isFalse, "", untouchd, false},
		"an unsettled Pod believes True where it was":     {unsettled, isTrue, isTrue, untouchd, false},
		"an unsettled Pod does not hold others' failures": {unsettled, "False Stopped Instance has stopped", isTrue, untouchd, false},
		"nothing is there, and nothing is wrong":          {well, "", "", untouchd, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			stored, incoming := available(tc.stored), available(tc.incoming)
			got := podstate.Correct(tc.verdict, stored, incoming, noon)
			text := untouchd
			if got.Governs {
				text = string(got.Condition.Status) + " " + got.Condition.Reason + " " + got.Condition.Message
			}
			if diff := cmp.Diff(tc.want, text); diff != "" {
				t.Fatalf("Correct (-want +got):\n%s", diff)
			}
			if got.Changes != (got.Governs && !tc.same) {
				t.Errorf("Changes = %t, want %t", got.Changes, !tc.same)
			}
			if !got.Governs {
				return
			}
			if current := cmpOr(incoming, stored); current != nil && got.Condition.ObservedGeneration != 3 {
				t.Errorf("observedGeneration = %d, want that of the condition", got.Condition.ObservedGeneration)
			}
			moved := stored == nil || stored.Status != got.Condition.Status
			if at := got.Condition.LastTransitionTime; moved != at.Time.Equal(noon) {
				t.Errorf("lastTransitionTime = %s, want it to move with the status alone", at)
			}
			// What was written is right the next time, by patch and by webhook.
			again := podstate.Correct(tc.verdict, &got.Condition, nil, noon.Add(time.Minute))
			if again.Changes {
				t.Errorf("the patch would write again: %+v", again.Condition)
			}
			again = podstate.Correct(tc.verdict, &got.Condition, available(isTrue), noon.Add(time.Minute))
			if tc.stored != "" && tc.verdict.Standing != podstate.Well && !cmp.Equal(again.Condition, got.Condition) {
				t.Errorf("a provider's True becomes %+v, want what is stored: %+v", again.Condition, got.Condition)
			}
		})
	}
}

func cmpOr(a, b *metav1.Condition) *metav1.Condition {
	if a != nil {
		return a
	}
	return b
}

func TestIsOwn(t *testing.T) {
	tests := map[string]bool{
		"False InstanceCrashing " + crashed3:                                          true,
		"False ImageUnavailable " + noImage:                                           true,
		`False ConfigurationError init container "a" cannot start.`:                   true,
		`False ConfigurationError sidecar container "a" cannot start.`:                true,
		"False Disrupted its Pod was evicted from its node.":                          true,
		"Unknown InstanceCrashing " + crashed3:                                        false,
		"True Available Instance is available":                                        false,
		`False InstanceCrashing Container "app" keeps exiting (last exit code 1)`:     false,
		"False Suspended its Pod is away.":                                            false,
		"False InstanceCrashing The instance is repeatedly failing to start":          false,
		"False ConfigurationError The instance cannot start as configured. See above": false,
		"": false,
	}
	for condition, want := range tests {
		if got := podstate.IsOwn(available(condition)); got != want {
			t.Errorf("IsOwn(%s) = %t, want %t", condition, got, want)
		}
	}
}
