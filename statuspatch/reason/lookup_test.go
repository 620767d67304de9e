package reason

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCanonical(t *testing.T) {
	tests := map[string]string{
		"CrashLoopBackOff":           "InstanceCrashing",
		"ErrImagePull":               "ImageUnavailable",
		"ImagePullBackOff":           "ImageUnavailable",
		"InvalidImageName":           "ImageUnavailable",
		"ErrImageNeverPull":          "ImageUnavailable",
		"ImageInspectError":          "ImageUnavailable",
		"RegistryUnavailable":        "ImageUnavailable",
		"SignatureValidationFailed":  "ImageUnavailable",
		"CreateContainerConfigError": "ConfigurationError",
		"CreateContainerError":       "ConfigurationError",
		"RunContainerError":          "ConfigurationError",
		"Stopping":                   "Stopped",
		"PendingQuota":               "QuotaNotGranted",
		"ProvisioningInstances":      "InstancesProvisioning",
		"ProvisioningNetwork":        "NetworkProvisioning",
		"CityCodeMismatch":           "LocationMismatch",
		"InstanceCrashing":           "InstanceCrashing",
		"OutOfCheese":                "OutOfCheese",
		"instancecrashing":           "instancecrashing",
		"":                           "",
	}
	for in, want := range tests {
		if got := Canonical(in); got != want {
			t.Errorf("Canonical(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPhrase(t *testing.T) {
	tests := map[string]struct{ one, several string }{
		"NetworkFailedToCreate":  {"has no network", "have no network"},
		"SourceNotFound":         {"cannot read data it refers to", "cannot read data they refer to"},
		"SourceUnauthorized":     {"cannot read data it refers to", "cannot read data they refer to"},
		"SourceTooLarge":         {"cannot read data it refers to", "cannot read data they refer to"},
		"SourceNameTooLong":      {"cannot read data it refers to", "cannot read data they refer to"},
		"ConfigurationError":     {"cannot start as configured", "cannot start as configured"},
		"ImageUnavailable":       {"could not pull its image", "could not pull their image"},
		"InstanceCrashing":       {"is repeatedly exiting and restarting", "are repeatedly exiting and restarting"},
		"CrashLoopBackOff":       {"is repeatedly exiting and restarting", "are repeatedly exiting and restarting"},
		"Failed":                 {"has failed", "have failed"},
		"NotRunning":             {"is not running", "are not running"},
		"Suspended":              {"is suspended", "are suspended"},
		"Stopped":                {"has stopped", "have stopped"},
		"QuotaNotGranted":        {"is waiting for quota", "are waiting for quota"},
		"ReferencedDataNotReady": {"is waiting for data", "are waiting for data"},
		"AwaitingPropagation":    {"is waiting for data", "are waiting for data"},
		"Resolving":              {"is waiting for data", "are waiting for data"},
		"Disrupted":              {"is being moved", "are being moved"},
		"Unschedulable":          {"cannot be scheduled yet", "cannot be scheduled yet"},
		"OutOfCheese":            {"is not running (OutOfCheese)", "are not running (OutOfCheese)"},
		"NetworkNotFound":        {"is not running (NetworkNotFound)", "are not running (NetworkNotFound)"},
	}
	for reason, want := range tests {
		if got := Phrase(reason, 1); got != want.one {
			t.Errorf("Phrase(%q, 1) = %q, want %q", reason, got, want.one)
		}
		if got := Phrase(reason, 2); got != want.several {
			t.Errorf("Phrase(%q, 2) = %q, want %q", reason, got, want.several)
		}
		if !IsPhrase(want.one, 1) || !IsPhrase(want.several, 7) {
			t.Errorf("IsPhrase does not know the phrases of %q", reason)
		}
	}
	for _, text := range []string{"", "is not running ()", "is not running (a b)", "is not running (A)x", "(A)", "has"} {
		if IsPhrase(text, 1) {
			t.Errorf("IsPhrase(%q, 1) = true, want false", text)
		}
	}
}

func TestIsStock(t *testing.T) {
	tests := map[string]struct {
		reason, message string
		want            bool
	}{
		"the sentence itself":                      {"ImageUnavailable", "The instance image could not be pulled", true},
		"with a closing stop":                      {"ImageUnavailable", "The instance image could not be pulled.", true},
		"with spaces around it":                    {"ImageUnavailable", " \tThe instance image could not be pulled. \n", true},
		"under an alias":                           {"ErrImagePull", "The instance image could not be pulled", true},
		"the second sentence of a reason":          {"InstanceCrashing", "Instance stopped unexpectedly", true},
		"suspension as the condition Available":    {"Suspended", "Instance is suspended and not serving traffic.", true},
		"suspension as the condition Ready":        {"Suspended", "Instance is suspended due to project suspension.", true},
		"quota":                                    {"QuotaNotGranted", "Quota exceeded", true},
		"empty":                                    {"InstanceCrashing", "", true},
		"empty for an unknown reason":              {"OutOfCheese", " ", true},
		"a stop alone":                             {"OutOfCheese", ".", true},
		"the sentence of another reason":           {"InstanceCrashing", "The instance image could not be pulled", false},
		"with more after it":                       {"ImageUnavailable", "The instance image could not be pulled: 401", false},
		"in other case":                            {"ImageUnavailable", "the instance image could not be pulled", false},
		"an unknown reason has no stock sentences": {"OutOfCheese", "Instance failed", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := IsStock(tc.reason, tc.message); got != tc.want {
				t.Errorf("IsStock(%q, %q) = %t, want %t", tc.reason, tc.message, got, tc.want)
			}
		})
	}
}

func TestUnknownReasonsRankByName(t *testing.T) {
	got := []string{"Zebra", "Suspended", "NotRunning", "Failed", "Apple", "Pending", "Omega"}
	slices.SortFunc(got, Compare)
	want := []string{"Failed", "Apple", "NotRunning", "Omega", "Zebra", "Suspended", "Pending"}
	if !slices.Equal(got, want) {
		t.Errorf("sorted by Compare: %v, want %v", got, want)
	}
	if RankOf("Zebra") != Unknown || IsProgress("Zebra") || !IsProgress("Starting") {
		t.Error("an unlisted reason must be an unknown failure, a listed progress none")
	}
}

func TestProgress(t *testing.T) {
	for _, r := range []string{"Pending", "PendingEvaluation", "PendingProgramming", "ProgrammingInProgress", "Provisioning",
		"SchedulingGatesPresent", "Starting", "Unknown", "LocationAssigned"} {
		if !IsProgress(r) || DeploymentBase(r) || WorkloadBase(r) {
			t.Errorf("%s must be progress and nobody's base", r)
		}
	}
}

// TestCompareIsATotalOrder draws known names, aliases and unknown ones.
func TestCompareIsATotalOrder(t *testing.T) {
	var names []string
	for name := range index {
		names = append(names, name)
	}
	slices.Sort(names) // so that a seed replays
	one := rapid.OneOf(rapid.SampledFrom(names), rapid.StringMatching(`[A-Z][a-z]{0,3}`))
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := one.Draw(t, "a"), one.Draw(t, "b"), one.Draw(t, "c")
		if Compare(a, b) != -Compare(b, a) {
			t.Fatalf("Compare(%q, %q) and its mirror do not agree", a, b)
		}
		if Compare(a, b) <= 0 && Compare(b, c) <= 0 && Compare(a, c) > 0 {
			t.Fatalf("Compare is not transitive over %q, %q, %q", a, b, c)
		}
		if (Compare(a, b) == 0) != (Canonical(a) == Canonical(b)) {
			t.Fatalf("Compare(%q, %q) = %d", a, b, Compare(a, b))
		}
		if RankOf(a) > RankOf(b) && Compare(a, b) >= 0 {
			t.Fatalf("%q has the higher rank but does not come before %q", a, b)
		}
	})
}

func TestValid(t *testing.T) {
	pattern := regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
	for _, s := range []string{"", "A", "a", "1", "_", "A1", "A_", "A,", "A:", "A:b", "A,b_9", ":A", "A b", "A\n", "Ä", "A-b",
		strings.Repeat("A", 1024)} {
		if got, want := Valid(s), pattern.MatchString(s); got != want {
			t.Errorf("Valid(%q) = %t, want %t", s, got, want)
		}
	}
	if Valid(strings.Repeat("A", 1025)) {
		t.Error("Valid accepts 1025 bytes")
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("Az09_,: -é\n")), 0, 6, -1).Draw(t, "s")
		if got, want := Valid(s), pattern.MatchString(s) && !strings.Contains(s, "\n"); got != want {
			t.Fatalf("Valid(%q) = %t, want %t", s, got, want)
		}
	})
}
