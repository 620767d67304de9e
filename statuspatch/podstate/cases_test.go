package podstate_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

var update = flag.Bool("update", false, "rewrite what the files of testdata want; review the diff like code")

// noon is the moment of every case that names no other.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// testCase is a Pod, what was seen of it before, and the verdict in full.
type testCase struct {
	Case   string     `json:"case"`
	Now    string     `json:"now"`
	Memory []seen     `json:"memory"`
	Pod    corev1.Pod `json:"pod"`
	Want   string     `json:"want"`
}

// seen is an earlier version of the Pod.
type seen struct {
	At     string           `json:"at"`
	Status corev1.PodStatus `json:"status"`
}

func (c testCase) moment(t testing.TB, s string) time.Time {
	if s == "" {
		return noon
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatalf("%s: %v", c.Case, err)
	}
	return at
}

// judge observes all versions of the Pod in turn and classifies the last.
func (c testCase) judge(t testing.TB) podstate.Verdict {
	c.Pod.UID = "u1"
	var memory podstate.Memory
	for _, s := range c.Memory {
		earlier := c.Pod
		earlier.Status = s.Status
		memory = podstate.Observe(memory, &earlier, c.moment(t, s.At))
	}
	now := c.moment(t, c.Now)
	memory = podstate.Observe(memory, &c.Pod, now)
	return podstate.Classify(&c.Pod, memory, now, podstate.Options{})
}

// verdictText is a verdict as the files show it.
func verdictText(v podstate.Verdict) string {
	words := []string{v.Standing.String(), v.Rule}
	if v.Reason != "" {
		words = append(words, v.Reason)
	}
	if v.Certainty != podstate.None {
		words = append(words, v.Certainty.String())
	}
	if !v.Until.IsZero() {
		words = append(words, "until", v.Until.Format(time.TimeOnly))
	}
	text := strings.Join(words, " ") + "\n"
	if v.Sentence != "" {
		text += v.Sentence + "\n"
	}
	return text
}

func caseFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/cases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no cases: %v", err)
	}
	return files
}

func readCases(t testing.TB, file string) []testCase {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	if err := yaml.UnmarshalStrict(text, &cases); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return cases
}

func TestCases(t *testing.T) {
	rules := map[string]bool{}
	for _, file := range caseFiles(t) {
		cases := readCases(t, file)
		for _, tc := range cases {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml")+"/"+tc.Case, func(t *testing.T) {
				v := tc.judge(t)
				rules[v.Rule] = true
				if diff := cmp.Diff(tc.Want, verdictText(v)); diff != "" && !*update {
					t.Errorf("verdict (-want +got); go test -run TestCases -update . rewrites it:\n%s", diff)
				}
				checkVerdict(t, v)
			})
		}
		if *update {
			rewrite(t, file, cases)
		}
	}
	for _, r := range podstate.Rules() {
		if !rules[r.ID] {
			t.Errorf("no case is decided by the rule %s", r.ID)
		}
	}
}

// rewrite puts the present verdicts into the text of a file and leaves all else
// as it is written.
func rewrite(t *testing.T, file string, cases []testCase) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "\n- case: ")
	for i, tc := range cases {
		head, _, _ := strings.Cut(blocks[i+1], "\n  want: |\n")
		verdict := strings.TrimSuffix(verdictText(tc.judge(t)), "\n")
		blocks[i+1] = strings.TrimRight(head, "\n") + "\n  want: |\n    " + strings.ReplaceAll(verdict, "\n", "\n    ")
	}
	if err := os.WriteFile(file, []byte(strings.Join(blocks, "\n- case: ")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
