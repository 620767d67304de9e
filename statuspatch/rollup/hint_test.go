package rollup_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

const (
	oneCrashes = "1 of 1 instances is repeatedly exiting and restarting: because."
	hintEnds   = "If the image needs one, add it to the container's capabilities. " +
		"This is not evidence that capabilities caused the crash."
)

// lack is a container of the class general-purpose that lacks these.
func lack(container string, capabilities ...string) rollup.Lack {
	return rollup.Lack{Class: "general-purpose", Container: container, Capabilities: rollup.ListCapabilities(capabilities)}
}

// crashingWith is a deployment of one Instance that crashes and lacks these.
func crashingWith(placement string, lacks ...rollup.Lack) rollup.Deployment {
	t := tally(0, 0, fails("InstanceCrashing", 1, 0, "because"))
	t.Lacks = lacks
	return here(placement, t)
}

func several(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s%c", prefix, 'A'+i))
	}
	return names
}

func TestHint(t *testing.T) {
	six := func() (lacks []rollup.Lack) {
		for i := range 6 {
			lacks = append(lacks, lack(fmt.Sprint("c", 5-i), "CHOWN"))
		}
		return lacks
	}
	tests := map[string]struct {
		lacks []rollup.Lack
		want  string
	}{
		"none lacks any": {nil, ""},
		"one container": {[]rollup.Lack{lack("app", "SETUID", "CHOWN")},
			`Container "app" runs without capabilities that runtime class "general-purpose" currently grants by default: CHOWN, SETUID. ` + hintEnds},
		"two containers that lack the same": {[]rollup.Lack{lack("sidecar", "CHOWN", "SETGID", "SETUID"), lack("app", "SETUID", "SETGID", "CHOWN", "CHOWN")},
			`Containers "app" and "sidecar" run without capabilities that runtime class "general-purpose" currently grants by default: CHOWN, SETGID, SETUID. If the image needs one, add it to the container's capabilities. This is not evidence that capabilities caused the crash.`},
		"three containers": {[]rollup.Lack{lack("c", "KILL"), lack("a", "KILL"), lack("b", "KILL")},
			`Containers "a", "b" and "c" run without capabilities that runtime class "general-purpose" currently grants by default: KILL. ` + hintEnds},
		"the same container of several Instances": {[]rollup.Lack{lack("app", "KILL"), lack("app", "KILL")},
			`Container "app" runs without capabilities that runtime class "general-purpose" currently grants by default: KILL. ` + hintEnds},
		"containers that lack different ones: each is told of what it lacks": {[]rollup.Lack{lack("log", "SETUID"), lack("app", "CHOWN")},
			`Container "app" runs without capabilities that runtime class "general-purpose" currently grants by default: CHOWN. ` +
				`Container "log" runs without capabilities that runtime class "general-purpose" currently grants by default: SETUID. ` + hintEnds},
		"Instances of two classes, in the midst of a change": {[]rollup.Lack{{Class: "web", Container: "app", Capabilities: "CHOWN"}, lack("app", "CHOWN")},
			`Container "app" runs without capabilities that runtime class "general-purpose" currently grants by default: CHOWN. ` +
				`Container "app" runs without capabilities that runtime class "web" currently grants by default: CHOWN. ` + hintEnds},
		"more containers than are named": {six(),
			`Containers "c0", "c1", "c2", "c3", "c4" and 1 more run without capabilities that runtime class "general-purpose" currently grants by default: CHOWN. ` + hintEnds},
		"more capabilities than are named": {[]rollup.Lack{lack("app", several("CAPABILITY_", 14)...)},
			`Container "app" runs without capabilities that runtime class "general-purpose" currently grants by default: ` +
				strings.Join(several("CAPABILITY_", 12), ", ") + ` and 2 more. ` + hintEnds},
		"more differences than are told": {[]rollup.Lack{lack("d", "KILL"), lack("c", "CHOWN"), lack("b", "SETUID"), lack("a", "SETGID")},
			`Container "a" runs without capabilities that runtime class "general-purpose" currently grants by default: SETGID. ` +
				`Container "b" runs without capabilities that runtime class "general-purpose" currently grants by default: SETUID. ` +
				`Container "c" runs without capabilities that runtime class "general-purpose" currently grants by default: CHOWN. ` + hintEnds},
		"names that no capability can have": {[]rollup.Lack{lack("app", "not one", "", "CHOWN")},
			`Container "app" runs without capabilities that runtime class "general-purpose" currently grants by default: CHOWN. ` + hintEnds},
		"nothing but such names": {[]rollup.Lack{lack("app", "not one", "x.")}, ""},
		"names that would break a line": {[]rollup.Lack{{Class: "a\nb", Container: `q"`, Capabilities: "CHOWN"}},
			`Container "q\"" runs without capabilities that runtime class "a\nb" currently grants by default: CHOWN. ` + hintEnds},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, placements := rollup.WorkloadAvailable(rollup.Workload{Placements: places("us"), Deployments: []rollup.Deployment{crashingWith("us", tc.lacks...)}})
			want := isFalse("InstanceCrashing", strings.TrimSpace(oneCrashes+" "+tc.want))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("WorkloadAvailable (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]rollup.Verdict{isFalse("InstanceCrashing", oneCrashes)}, placements); diff != "" {
				t.Errorf("the placement says it too (-want +got):\n%s", diff)
			}
			s, ok := rollup.Parse(got.Reason, got.Message)
			if diff := cmp.Diff(rollup.Sentence{Count: 1, Of: 1, Rest: "because.", Hint: tc.want}, s); diff != "" || !ok {
				t.Errorf("Parse = %t (-want +got):\n%s", ok, diff)
			}
		})
	}
}

func TestWhereAHintStands(t *testing.T) {
	hint := ` Container "app" runs without capabilities that runtime class "general-purpose" currently grants by default: CHOWN. ` + hintEnds
	with := func(t rollup.Tally) rollup.Tally {
		t.Lacks = []rollup.Lack{lack("app", "CHOWN")}
		return t
	}
	tests := map[string]struct {
		in   rollup.Workload
		want rollup.Verdict
	}{
		"after further sentences, where there is no detail": {
			rollup.Workload{Deployments: []rollup.Deployment{here("us", with(tally(0, 0, fails("InstanceCrashing", 1, 0, ""), fails("Stopped", 1, 1, ""))))}},
			isFalse("InstanceCrashing", "1 of 2 instances is repeatedly exiting and restarting. 1 of 2 instances has stopped."+hint)},
		"once, of deployments that lack the same": {
			rollup.Workload{Deployments: []rollup.Deployment{crashingWith("us", lack("app", "CHOWN")), crashingWith("eu", lack("app", "CHOWN"))}},
			isFalse("InstanceCrashing", "2 of 2 instances are repeatedly exiting and restarting: because."+hint)},
		"not where another reason is told first": {
			rollup.Workload{Deployments: []rollup.Deployment{here("us", with(tally(0, 0, fails("ImageUnavailable", 1, 0, ""), fails("InstanceCrashing", 1, 1, ""))))}},
			isFalse("ImageUnavailable", "1 of 2 instances could not pull its image. 1 of 2 instances is repeatedly exiting and restarting.")},
		"not where an Instance serves, which runs with the same": {
			rollup.Workload{Deployments: []rollup.Deployment{here("us", with(tally(1, 0, fails("InstanceCrashing", 1, 0, ""))))}},
			isTrue("AvailablePlacementFound", found+`; placement "us": 1 of 2 instances is repeatedly exiting and restarting.`)},
		"not behind a base, which is told alone": {
			rollup.Workload{Available: says("NetworkNotFound", "no network"), Deployments: []rollup.Deployment{crashingWith("us", lack("app", "CHOWN"))}},
			isFalse("NetworkNotFound", "no network")},
		"not behind the word of another plane, even of the same reason": {
			rollup.Workload{Deployments: []rollup.Deployment{
				{Name: "far", Placement: "eu", Replicas: 3, Available: says("InstanceCrashing", "3 of 3 instances are down.")},
				crashingWith("us", lack("app", "CHOWN"))}},
			isFalse("InstanceCrashing", `placement "eu": 3 of 3 instances are down.`)},
		"over one stored before, of what no longer holds": {
			rollup.Workload{Available: says("InstanceCrashing", oneCrashes+hint), Deployments: []rollup.Deployment{crashingWith("us")}},
			isFalse("InstanceCrashing", oneCrashes)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, _ := rollup.WorkloadAvailable(tc.in)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("WorkloadAvailable (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("not on a deployment, whose condition other planes copy", func(t *testing.T) {
		if got := rollup.DeploymentAvailable(crashingWith("us", lack("app", "CHOWN"))); got.Message != oneCrashes {
			t.Errorf("DeploymentAvailable says %q, want %q", got.Message, oneCrashes)
		}
	})
}

// An unknown reason is one that a controller may give of its own accord, so a
// sentence that the parser did not know would stay for ever as a base.
func TestNoHintBecomesABase(t *testing.T) {
	hint := ` Container "app" runs without capabilities that runtime class "general-purpose" currently grants by default: CHOWN. ` + hintEnds
	in := map[string]string{
		"behind a detail":              "1 of 1 instances is not running (Odd): x." + hint,
		"behind no detail":             "1 of 1 instances is not running (Odd)." + hint,
		"behind a further sentence":    "1 of 2 instances is not running (Odd). 1 of 2 instances has stopped." + hint,
		"an Instance's own words":      "1 of 1 instances is not running (Odd):" + hint,
		"which begin without a stop":   "1 of 1 instances is not running (Odd): x" + hint,
		"twice":                        "1 of 1 instances is not running (Odd): x." + hint + hint,
		"of a release with more words": `1 of 1 instances is not running (Odd). Containers "a", "b", "c", "d", "e", "f" and "g" run without capabilities that runtime class "w" currently grants by default: A. ` + hintEnds,
	}
	for name, message := range in {
		t.Run(name, func(t *testing.T) {
			if !rollup.InGrammar("Odd", message) {
				t.Errorf("InGrammar(%q) = false, want true", message)
			}
		})
	}
	out := map[string]string{
		"no container":              ` ` + hintEnds,
		"no name":                   ` Container runs without capabilities that runtime class "w" currently grants by default: CHOWN. ` + hintEnds,
		"a name in other quotes":    " Container `app` runs without capabilities that runtime class \"w\" currently grants by default: CHOWN. " + hintEnds,
		"the plural for one":        ` Containers "app" run without capabilities that runtime class "w" currently grants by default: CHOWN. ` + hintEnds,
		"the singular for two":      ` Containers "a" and "b" runs without capabilities that runtime class "w" currently grants by default: CHOWN. ` + hintEnds,
		"no class":                  ` Container "app" runs without capabilities that runtime class currently grants by default: CHOWN. ` + hintEnds,
		"no capability":             ` Container "app" runs without capabilities that runtime class "w" currently grants by default: . ` + hintEnds,
		"a capability of two words": ` Container "app" runs without capabilities that runtime class "w" currently grants by default: SYS ADMIN. ` + hintEnds,
		"none more":                 ` Container "app" runs without capabilities that runtime class "w" currently grants by default: CHOWN and 0 more. ` + hintEnds,
		"other words in between":    ` Container "app" runs without capabilities that runtime class "w" currently grants by default: CHOWN. Sorry. ` + hintEnds,
		"an end cut short":          ` Container "app" runs without capabilities that runtime class "w" currently grants by default: CHOWN.`,
		"text after the end":        hint + " Sorry.",
	}
	for name, text := range out {
		t.Run(name, func(t *testing.T) {
			if message := "1 of 1 instances is not running (Odd)." + text; rollup.InGrammar("Odd", message) {
				t.Errorf("InGrammar(%q) = true, want false", message)
			}
		})
	}
}

// TestTheLongestHintFits holds the bounds of a hint together with those of the
// message before it.
func TestTheLongestHintFits(t *testing.T) {
	tally := tally(0, 0, fails("InstanceCrashing", 1_000_000_000, 0, strings.Repeat("d", rollup.MaxDetail)))
	for i := range 5 {
		tally.Failures = append(tally.Failures, fails(strings.Repeat("R", 1020)+fmt.Sprint(i), 1_000_000_000, 0, "x"))
	}
	for class := range 9 {
		for container := range 9 {
			tally.Lacks = append(tally.Lacks, rollup.Lack{
				Class:        fmt.Sprint(class, strings.Repeat("\x01", 300)),
				Container:    fmt.Sprint(container, strings.Repeat("\x01", 300)),
				Capabilities: rollup.ListCapabilities(several(strings.Repeat("C", 63), 20)),
			})
		}
	}
	got, _ := rollup.WorkloadAvailable(rollup.Workload{Deployments: []rollup.Deployment{here("us", tally)}})
	t.Logf("%d bytes", len(got.Message))
	if fault := storable(got); fault != "" {
		t.Errorf("the API server would refuse it: %s", fault)
	}
	if s, ok := rollup.Parse(got.Reason, got.Message); !ok || s.Hint == "" {
		t.Errorf("Parse = %+v, %t", s, ok)
	}
}

func drawLacks(t *rapid.T) (lacks []rollup.Lack) {
	names := rapid.OneOf(rapid.SampledFrom([]string{"app", "log", "vpn", "", "\"\n\xff", " and 3 more", "Container \"x\""}), rapid.String())
	for range rapid.IntRange(0, 8).Draw(t, "lacks") {
		lacks = append(lacks, rollup.Lack{
			Class:     names.Draw(t, "class"),
			Container: names.Draw(t, "container"),
			Capabilities: rollup.ListCapabilities(rapid.SliceOf(rapid.OneOf(
				rapid.SampledFrom([]string{"CHOWN", "KILL", "SETUID"}), rapid.StringMatching(`[A-Z_]{1,3}`), rapid.String())).Draw(t, "capabilities")),
		})
	}
	return lacks
}

// Without lacks every message is what it was before there were hints; with them
// it is that and a hint, which the parser takes off again, and nothing else of
// any verdict is another one.
func TestPropertyHint(t *testing.T) {
	met := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorkload(t, rapid.SampledFrom([]int{6, 6, 7, 8}).Draw(t, "ceiling"), rapid.IntRange(0, 5).Draw(t, "may be ready") == 0)
		if rapid.IntRange(0, 3).Draw(t, "crashing") > 0 {
			w.Deployments = append(w.Deployments, crashingWith("us"))
		}
		plain, plainPlacements := rollup.WorkloadAvailable(w)
		if s, ok := rollup.Parse(plain.Reason, plain.Message); ok && s.Hint != "" {
			t.Fatalf("a hint without lacks: %q", plain.Message)
		}
		lacking := w
		lacking.Deployments = nil
		for _, d := range w.Deployments {
			d.Tally.Lacks = drawLacks(t)
			lacking.Deployments = append(lacking.Deployments, d)
		}
		got, placements := rollup.WorkloadAvailable(lacking)
		if diff := cmp.Diff(plainPlacements, placements); diff != "" {
			t.Fatalf("a hint changed a placement (-without +with):\n%s", diff)
		}
		if fault := storable(got); fault != "" {
			t.Fatalf("the API server would refuse %+v: %s", got, fault)
		}
		added, ok := strings.CutPrefix(got.Message, plain.Message)
		if !ok || got.Status != plain.Status || got.Reason != plain.Reason {
			t.Fatalf("a hint changed the verdict from %+v to %+v", plain, got)
		}
		if added == "" {
			return
		}
		met++
		before, _ := rollup.Parse(plain.Reason, plain.Message)
		before.Hint = strings.TrimPrefix(added, " ")
		after, ok := rollup.Parse(got.Reason, got.Message)
		if diff := cmp.Diff(before, after); diff != "" || !ok {
			t.Fatalf("Parse(%q) = %t (-want +got):\n%s", got.Message, ok, diff)
		}
		stored := lacking
		stored.Available = settled(w.Available, got)
		if again, _ := rollup.WorkloadAvailable(stored); again != got {
			t.Fatalf("twice is not once: %+v, then %+v", got, again)
		}
		stored = w
		stored.Available = settled(w.Available, got)
		if off, _ := rollup.WorkloadAvailable(stored); off != plain {
			t.Fatalf("turned off it says %+v, want %+v", off, plain)
		}
		shuffled := lacking
		shuffled.Deployments = rapid.Permutation(lacking.Deployments).Draw(t, "deployments")
		for i := range shuffled.Deployments {
			shuffled.Deployments[i].Tally.Lacks = rapid.Permutation(shuffled.Deployments[i].Tally.Lacks).Draw(t, "order")
		}
		if again, _ := rollup.WorkloadAvailable(shuffled); again != got {
			t.Fatalf("the order matters: %+v, then %+v", got, again)
		}
		if kept := rollup.KeepHint(plain, settled(nil, got)); kept != got {
			t.Fatalf("KeepHint = %+v, want %+v", kept, got)
		}
	})
	if met == 0 {
		t.Error("no hint was ever met")
	}
	t.Logf("%d hints", met)
}

func TestKeepHint(t *testing.T) {
	hint := `Container "app" runs without capabilities that runtime class "general-purpose" currently grants by default: CHOWN. ` + hintEnds
	fresh := isFalse("InstanceCrashing", "2 of 2 instances are repeatedly exiting and restarting: because.")
	well := cond("Available", "True", "InstanceCrashing", oneCrashes+" "+hint)
	tests := map[string]struct {
		v      rollup.Verdict
		stored *metav1.Condition
		want   string
	}{
		"of a stored crash, whatever it counts": {fresh, says("InstanceCrashing", oneCrashes+" "+hint), fresh.Message + " " + hint},
		"none is stored":                        {fresh, says("InstanceCrashing", oneCrashes), fresh.Message},
		"nothing is stored":                     {fresh, nil, fresh.Message},
		"of another reason":                     {isFalse("Failed", "x"), says("InstanceCrashing", oneCrashes+" "+hint), "x"},
		"of what is well":                       {fresh, &well, fresh.Message},
		"of a verdict that is well":             {isTrue("InstanceCrashing", "x"), says("InstanceCrashing", oneCrashes+" "+hint), "x"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := rollup.KeepHint(tc.v, tc.stored); got.Message != tc.want || got.Status != tc.v.Status || got.Reason != tc.v.Reason {
				t.Errorf("KeepHint = %+v, want the message %q", got, tc.want)
			}
		})
	}
}
