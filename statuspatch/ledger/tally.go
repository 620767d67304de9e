package ledger

import (
	"github.com/google/btree"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// treeDegree keeps a tree of a few Instances in one small node while ten
// thousand need but three levels.
const treeDegree = 16

// voice is an Instance that has a failure reason and could speak for it. Its
// ordinal stands beside the pointer because a tree of ten thousand is too large
// to follow a pointer at each step: nearly always the ordinals tell.
type voice struct {
	ordinal  int
	instance *Instance
}

func voiceOf(i *Instance) voice { return voice{i.Member.Ordinal, i} }

func (a voice) before(b voice) bool {
	if a.ordinal != b.ordinal {
		return a.ordinal < b.ordinal
	}
	return rollup.CompareMembers(a.instance.Member, b.instance.Member) < 0
}

// tally is the running sum of one deployment's Instances. Instances of one
// reason stand in an ordered tree, so that the representative is found without
// a scan.
type tally struct {
	seen, counted, ready int
	failures             map[string]*btree.BTreeG[voice]
	lacks                map[rollup.Lack]int
}

func (t *tally) add(i *Instance) {
	t.count(i, 1)
	if i.Contribution.Reason == "" {
		return
	}
	if t.failures == nil {
		t.failures = map[string]*btree.BTreeG[voice]{}
	}
	tree := t.failures[i.Contribution.Reason]
	if tree == nil {
		tree = btree.NewG(treeDegree, voice.before)
		t.failures[i.Contribution.Reason] = tree
	}
	tree.ReplaceOrInsert(voiceOf(i))
}

// replace puts a version in the place of one that adds the same.
func (t *tally) replace(i *Instance) {
	if i.Contribution.Reason != "" {
		t.failures[i.Contribution.Reason].ReplaceOrInsert(voiceOf(i))
	}
}

func (t *tally) remove(i *Instance) {
	t.count(i, -1)
	tree := t.failures[i.Contribution.Reason]
	if tree == nil {
		return
	}
	tree.Delete(voiceOf(i))
	if tree.Len() == 0 {
		delete(t.failures, i.Contribution.Reason)
	}
}

func (t *tally) count(i *Instance, by int) {
	t.seen += by
	if i.Contribution.Counts() {
		t.counted += by
	}
	if i.Contribution.Ready {
		t.ready += by
	}
}

// snapshot is the tally as a value of its own.
func (t *tally) snapshot() rollup.Tally {
	out := rollup.Tally{Seen: t.seen, Counted: t.counted, Ready: t.ready}
	for one := range t.lacks {
		out.Lacks = append(out.Lacks, one)
	}
	if len(t.failures) == 0 {
		return out
	}
	out.Failures = make([]rollup.Failure, 0, len(t.failures))
	for reason, tree := range t.failures {
		first, _ := tree.Min()
		out.Failures = append(out.Failures, rollup.Failure{
			Reason:         reason,
			Count:          tree.Len(),
			Representative: first.instance.Member,
			Message:        first.instance.Contribution.Message,
		})
	}
	return out
}
