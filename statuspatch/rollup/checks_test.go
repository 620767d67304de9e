package rollup_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// settled is the condition as it is stored once the verdict is written.
func settled(stored *metav1.Condition, v rollup.Verdict) *metav1.Condition {
	c := rollup.Settle(stored, nil, "Available", v, time.Unix(5000, 0))
	return &c
}

func byName(w rollup.Workload, verdicts []rollup.Verdict) map[string]rollup.Verdict {
	m := map[string]rollup.Verdict{}
	for i, p := range w.Placements {
		m[p.Name] = verdicts[i]
	}
	return m
}

// bestWins fails unless a False verdict has the reason that comes first among
// those of the failures and the bases, or the default where there are none.
func bestWins(t *rapid.T, v rollup.Verdict, failures []rollup.Failure, bases []string) {
	if v.Status == metav1.ConditionTrue {
		return
	}
	want := reason.InstancesProvisioning
	for _, f := range failures {
		bases = append(bases, f.Reason)
	}
	for _, r := range bases {
		if reason.RankOf(r) >= reason.Working && reason.Compare(r, want) < 0 {
			want = r
		}
	}
	if reason.Canonical(v.Reason) != reason.Canonical(want) {
		t.Fatalf("the verdict is %+v, want the reason %q", v, want)
	}
}

// baseOf is the reason of a condition that is a base by the words of the rule.
func baseOf(c *metav1.Condition, saidBy func(string) bool) []string {
	if c == nil || c.Status != metav1.ConditionFalse || !reason.Valid(c.Reason) || !saidBy(c.Reason) ||
		rollup.InGrammar(c.Reason, c.Message) {
		return nil
	}
	return []string{c.Reason}
}

// readBack fails unless the parser finds in a False verdict what it was made
// of, or the verdict is the object's own base, which is nobody's grammar.
func readBack(t *rapid.T, v rollup.Verdict, own *metav1.Condition, failures []rollup.Failure, counted int) {
	if v.Status == metav1.ConditionTrue {
		return
	}
	s, ok := rollup.Parse(v.Reason, v.Message)
	if !ok {
		if own == nil || own.Status != metav1.ConditionFalse || own.Reason != v.Reason {
			t.Fatalf("Parse does not read back %q %q", v.Reason, v.Message)
		}
		return
	}
	if s.Default || s.Quoted {
		return
	}
	count := 0
	for _, f := range failures {
		if f.Reason == v.Reason {
			count += f.Count
		}
	}
	if s.Count != count || s.Of != counted {
		t.Fatalf("Parse reads %d of %d out of %q, want %d of %d", s.Count, s.Of, v.Message, count, counted)
	}
}
