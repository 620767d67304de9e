package webhook

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// verdictCase is a row of every table of rules: what is judged, and every word
// that its author reads.
type verdictCase struct {
	runtime       *Runtime
	stored, owner *Runtime
	// classes defaults to published.
	classes  []RuntimeClass
	refused  []string
	warnings []string
}

// The paths of the runtime, and of what its first two containers add.
const (
	at   = "spec.template.spec.runtime"
	add0 = at + ".sandbox.containers[0].securityContext.capabilities.add"
	add1 = at + ".sandbox.containers[1].securityContext.capabilities.add"
)

func testVerdicts(t *testing.T, rows map[string]verdictCase) {
	t.Helper()
	for name, tc := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.classes == nil {
				tc.classes = published()
			}
			v := Validate(Case{
				Runtime: tc.runtime, Stored: tc.stored, Owner: tc.owner,
				Classes: NewClasses(tc.classes),
				Path:    field.NewPath("spec", "template", "spec", "runtime"),
			})
			var refused []string
			for _, err := range v.Errors() {
				refused = append(refused, err.Error())
			}
			if diff := cmp.Diff(tc.refused, refused); diff != "" {
				t.Errorf("Validate: refused (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.warnings, v.Warnings); diff != "" {
				t.Errorf("Validate: warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsGrantedIsAccepted(t *testing.T) {
	testVerdicts(t, map[string]verdictCase{
		"no sandbox":                                 {runtime: &Runtime{Class: "no-such-class"}},
		"no containers":                              {runtime: runtimeOf("no-such-class")},
		"a container without a security context":     {runtime: &Runtime{Sandbox: &Sandbox{Containers: []Container{{Name: "app"}}}}},
		"nothing added in a class that is not known": {runtime: runtimeOf("no-such-class", ctr("app"))},
		"only drops":                                 {runtime: runtimeOf("unikernel", ctr("app").dropping("ALL", "CAP_CHOWN", "all"))},
		"one granted name":                           {runtime: runtimeOf("web", ctr("app", "NET_BIND_SERVICE"))},
		"every name of the closed list":              {runtime: runtimeOf("general-purpose", ctr("app", everyCapability...))},
		"a granted name beside all dropped": { // cases.md C5 c
			runtime: runtimeOf("web", ctr("app", "NET_BIND_SERVICE").dropping("all")),
		},
		"a granted name in the default class": {
			runtime: runtimeOf("", ctr("app", "CHOWN")),
			classes: []RuntimeClass{defaulted(granting("standard", "CHOWN")), featureless("small")},
		},
	})
}

func TestCausesComeInTheOrderOfTheirPaths(t *testing.T) {
	testVerdicts(t, map[string]verdictCase{
		"two containers, each entry for itself, granted ones left out": {
			runtime: runtimeOf("web", ctr("app", "SYS_ADMIN", "NET_BIND_SERVICE", "ALL"), ctr("log", "CAP_NET_BIND_SERVICE", "MKNOD")),
			refused: []string{
				add0 + `[0]: Forbidden: capability "SYS_ADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; no runtime class grants everything this object adds`,
				add0 + `[2]: Forbidden: ALL may not be added; list each capability`,
				add1 + `[0]: Invalid value: "CAP_NET_BIND_SERVICE": write "NET_BIND_SERVICE", without the CAP_ prefix`,
				add1 + `[1]: Forbidden: capability "MKNOD" is not granted by runtime class "web", which grants NET_BIND_SERVICE; no runtime class grants everything this object adds`,
			},
		},
		"the class before the containers": {
			runtime: runtimeOf("wbe", ctr("app", "SYS_ADMIN", "all", "CAP_CHOWN")),
			refused: []string{
				at + `.class: Unsupported value: "wbe": runtime class "wbe" does not exist; there are "general-purpose", "unikernel", "web"`,
				add0 + `[1]: Forbidden: ALL may not be added; list each capability`,
				add0 + `[2]: Invalid value: "CAP_CHOWN": write "CHOWN", without the CAP_ prefix`,
			},
		},
	})
}

func TestAnAnswerIsBoundedHoweverMuchIsRefused(t *testing.T) {
	v := Validate(Case{Runtime: runtimeOf("web", boxes(20_000, "SYS_ADMIN")...), Classes: NewClasses(published()), Path: workloads.at})
	if len(v.Refused) != 20_000 {
		t.Errorf("Validate found %d causes, want all of 20000", len(v.Refused))
	}
	errs := v.Errors()
	if len(errs) != 101 {
		t.Fatalf("Errors returned %d causes, want 100 and a count", len(errs))
	}
	want := at + `.sandbox.containers[100].securityContext.capabilities.add[0]: Forbidden: ... and 19900 more`
	if got := errs[100].Error(); got != want {
		t.Errorf("last cause: got %s, want %s", got, want)
	}
}
