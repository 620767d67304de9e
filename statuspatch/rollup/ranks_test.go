package rollup_test

import (
	"flag"
	"os"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// TestMain raises the number of cases of each property: a hundred are too few
// for every rank to occur.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", "2000"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// ranks counts how often a property met each rank, so that none is held by
// cases that never occur. Index 0 counts what is available.
type ranks [9]int

func (r *ranks) note(v rollup.Verdict) {
	switch v.Status {
	case metav1.ConditionTrue:
		r[0]++
	default:
		r[reason.RankOf(v.Reason)]++
	}
}

func (r *ranks) report(t *testing.T) {
	t.Helper()
	t.Logf("available: %d, by rank 1 to 8: %v", r[0], r[1:])
	for rank, n := range r {
		if n == 0 {
			t.Errorf("rank %d (0 is available) never occurred", rank)
		}
	}
}

// storable tells what the API server would refuse in a verdict.
func storable(v rollup.Verdict) string {
	c := rollup.Settle(nil, nil, "Available", v, time.Now())
	if errs := validation.ValidateConditions([]metav1.Condition{c}, field.NewPath("conditions")); len(errs) > 0 {
		return errs.ToAggregate().Error()
	}
	switch {
	case !reason.Valid(v.Reason):
		return "the reason does not match the pattern"
	case len(v.Message) > rollup.MaxMessage:
		return "the message is too long"
	case !utf8.ValidString(v.Message):
		return "the message is no valid UTF-8"
	}
	return ""
}
