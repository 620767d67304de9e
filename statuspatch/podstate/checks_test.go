package podstate_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/podstate"
	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// checkVerdict fails unless the verdict is one that anybody can store, read and
// take back, whatever the Pod was.
func checkVerdict(t testing.TB, v podstate.Verdict) {
	t.Helper()
	failing := v.Standing == podstate.Failing
	switch {
	case v.Rule == "":
		t.Errorf("%+v has no rule", v)
	case failing != (v.Reason != ""), failing && v.Sentence == "":
		t.Errorf("%+v: a failure has a reason and a sentence, and only a failure has a reason", v)
	case failing != (v.Certainty == podstate.Retrying || v.Certainty == podstate.Permanent):
		t.Errorf("%+v: a failure stays or is tried again, and only a failure", v)
	case v.Certainty == podstate.Transient && v.Sentence == "":
		t.Errorf("%+v: trouble has a note", v)
	case failing && (!reason.Known(v.Reason) || reason.Canonical(v.Reason) != v.Reason):
		t.Errorf("%+v: the reason is not one of the table", v)
	}
	if v.Sentence == "" {
		return
	}
	if !utf8.ValidString(v.Sentence) || len(v.Sentence) > podstate.MaxSentence || strings.ContainsAny(v.Sentence, "\n\r\x00") {
		t.Errorf("the sentence is not one bounded line of valid text: %q", v.Sentence)
	}
	if got := rollup.Clean(v.Sentence, rollup.MaxDetail); got != v.Sentence {
		t.Errorf("the roll-up makes %q of %q", got, v.Sentence)
	}
	if !strings.HasSuffix(v.Sentence, ".") {
		t.Errorf("the sentence does not end: %q", v.Sentence)
	}
	if !podstate.Same(v.Sentence, v.Sentence) {
		t.Errorf("%q is not the same as itself", v.Sentence)
	}
	if !failing {
		return
	}
	own := metav1.Condition{Type: "Available", Status: metav1.ConditionFalse, Reason: v.Reason, Message: v.Sentence}
	if !podstate.IsOwn(&own) {
		t.Errorf("%q is not known as own", v.Sentence)
	}
	if reason.IsStock(v.Reason, v.Sentence) {
		t.Errorf("the roll-up would drop %q", v.Sentence)
	}
	c := rollup.ReadInstance(false, []metav1.Condition{own})
	if c.Ready || c.Reason != v.Reason || c.Message != v.Sentence {
		t.Errorf("the roll-up reads %+v out of %+v", c, v)
	}
}
