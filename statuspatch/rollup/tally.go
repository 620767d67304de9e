package rollup

import (
	"cmp"
	"slices"
	"strings"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
)

// Instance is one Instance of a deployment and what it adds.
type Instance struct {
	Member
	Contribution
	// Lacks are its containers that crash at start-up and lack capabilities.
	Lacks []Lack
}

// Sum adds up the contributions of one deployment's Instances. It is the plain
// definition of a Tally, whichever way one is kept up to date.
func Sum(instances []Instance) Tally {
	t := Tally{Seen: len(instances)}
	for _, in := range instances {
		if in.Counts() {
			t.Counted++
		}
		if in.Ready {
			t.Ready++
		}
		if in.Reason == reason.InstanceCrashing {
			for _, l := range in.Lacks {
				if !slices.Contains(t.Lacks, l) {
					t.Lacks = append(t.Lacks, l)
				}
			}
		}
		if in.Reason != "" {
			t.Failures = append(t.Failures, Failure{in.Reason, 1, in.Member, in.Message})
		}
	}
	t.Failures = merge(t.Failures)
	return t
}

// CompareMembers orders representatives: lowest ordinal first, then name.
func CompareMembers(a, b Member) int {
	return cmp.Or(cmp.Compare(a.Ordinal, b.Ordinal), strings.Compare(a.Name, b.Name))
}

// merge adds up failures of the same reason and sorts them by preference. It
// leaves its argument alone and drops what is no failure at all.
func merge(failures ...[]Failure) []Failure {
	all := slices.Concat(failures...)
	all = slices.DeleteFunc(all, func(f Failure) bool {
		return f.Count <= 0 || reason.RankOf(f.Reason) < reason.Working
	})
	slices.SortFunc(all, func(a, b Failure) int {
		return cmp.Or(
			reason.Compare(a.Reason, b.Reason),
			CompareMembers(a.Representative, b.Representative),
			strings.Compare(a.Message, b.Message), // two of one name: take either, but always the same
		)
	})
	kept := all[:0]
	for _, f := range all {
		if n := len(kept); n > 0 && kept[n-1].Reason == f.Reason {
			kept[n-1].Count += f.Count
			continue
		}
		kept = append(kept, f)
	}
	return kept
}

// telling is the part of ranked failures that makes a sentence beside a worse
// one: what the platform is still working on does not.
func telling(ranked []Failure) []Failure {
	for i, f := range ranked {
		if reason.RankOf(f.Reason) < reason.Data {
			return ranked[:i]
		}
	}
	return ranked
}
