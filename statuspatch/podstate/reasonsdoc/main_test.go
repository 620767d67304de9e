package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
)

func TestTheDocumentIsCurrent(t *testing.T) {
	want, err := render("../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../docs/reasons.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/reasons.md is not current (-want +got); run go generate ./statuspatch/podstate:\n%s", diff)
	}
}

func TestEveryRuleIsShown(t *testing.T) {
	text, err := render("../testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range podstate.Rules() {
		if n := strings.Count(string(text), "\n**"+r.ID+"**") + strings.Count(string(text), "\n**"+r.ID+": "); n != 1 {
			t.Errorf("the rule %s is shown %d times, want once", r.ID, n)
		}
	}
	if _, err := render(t.TempDir()); err == nil {
		t.Error("a document without examples is written, want an error")
	}
}
