package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

func loadedDeployment(n int) ledger.Parent {
	return ledger.Parent{Kind: ledger.KindDeployment, Namespace: "shop", Name: "d" + strconv.Itoa(n), UID: types.UID("uid-d" + strconv.Itoa(n))}
}

func loadedInstance(deployment, n int, version int, failing bool) *ledger.Instance {
	name := fmt.Sprintf("d%d-%d", deployment, n)
	i := &ledger.Instance{
		NamespacedName:  types.NamespacedName{Namespace: "shop", Name: name},
		UID:             types.UID("uid-" + name),
		ResourceVersion: strconv.Itoa(version),
		Deployment:      loadedDeployment(deployment),
		Member:          rollup.Member{Ordinal: n, Name: name},
		Contribution:    rollup.Contribution{Ready: true},
	}
	if failing {
		i.Contribution = rollup.Contribution{Reason: "InstanceCrashing", Message: "it exits"}
	}
	return i
}

// siblings is one deployment whose Instances change one by one, each from failing
// to ready and back. Their names are made beforehand, for no ledger pays for
// them.
type siblings struct {
	names   []string
	failing []bool
	version int
	at      *rand.Rand
}

var (
	benchWorkload   = ledger.Parent{Kind: ledger.KindWorkload, Namespace: "shop", Name: "w0", UID: "uid-w0"}
	benchDeployment = loadedDeployment(0)
)

// newSiblings is so many of them, and a ledger in which all fail: each then
// stands in the order of those who could speak.
func newSiblings(n int) (*siblings, *ledger.Ledger) {
	l := ledger.New(nil)
	l.ObserveWorkload(&ledger.Workload{Parent: benchWorkload, ResourceVersion: "1"})
	l.ObserveDeployment(&ledger.Deployment{Parent: benchDeployment, ResourceVersion: "1", Workload: benchWorkload})
	s := &siblings{at: rand.New(rand.NewPCG(1, 2)), version: 1}
	for i := range n {
		s.names = append(s.names, fmt.Sprint("d0-", i))
		s.failing = append(s.failing, true)
		l.ObserveInstance(s.instance(i))
	}
	return s, l
}

// instance is what a decoder makes of the sibling's latest version, with what
// Instances have in common interned.
func (s *siblings) instance(n int) *ledger.Instance {
	i := &ledger.Instance{
		NamespacedName:  types.NamespacedName{Namespace: "shop", Name: s.names[n]},
		UID:             types.UID(s.names[n]),
		ResourceVersion: strconv.Itoa(s.version),
		Deployment:      benchDeployment,
		Member:          rollup.Member{Ordinal: n, Name: s.names[n]},
		Contribution:    rollup.Contribution{Ready: true},
	}
	if s.failing[n] {
		i.Contribution = rollup.Contribution{Reason: "InstanceCrashing", Message: "it exits"}
	}
	return i
}

// change is a review's Instance and the version that is stored afterwards.
type change struct{ proposed, stored *ledger.Instance }

// change is one of a sibling taken at random.
func (s *siblings) change() change {
	n := s.at.IntN(len(s.names))
	s.failing[n] = !s.failing[n]
	proposed := s.instance(n)
	s.version++
	return change{proposed, s.instance(n)}
}

// carry is all that one change of an Instance has the ledger do: its review's
// contribution becomes pending, the views are taken that both parents are
// computed from, and the watch settles it.
func carry(l *ledger.Ledger, c change) bool {
	if !l.Propose(c.proposed, c.proposed.ResourceVersion, time.Time{}) {
		return false
	}
	_, deployment := l.Deployment(benchDeployment.UID)
	_, workload := l.Workload(benchWorkload.UID)
	l.ObserveInstance(c.stored)
	return deployment && workload
}

// BenchmarkUpdate carries a change of a random Instance. What is allocated has
// the test's own four in it: the two Instances and their versions. What ten
// thousand siblings cost more than ten is memory that is not in the processor's
// cache.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{10, 10_000, 100_000} {
		b.Run(fmt.Sprint("siblings=", n), func(b *testing.B) {
			s, l := newSiblings(n)
			b.ReportAllocs()
			for b.Loop() {
				if !carry(l, s.change()) {
					b.Fatal("the change was not taken in")
				}
			}
		})
	}
}

// BenchmarkReplaceInstances is a list that says nothing new: what a watch that
// was lost costs when it is back.
func BenchmarkReplaceInstances(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint("instances=", n), func(b *testing.B) {
			s, l := newSiblings(n)
			list := make([]*ledger.Instance, n)
			for i := range list {
				list[i] = s.instance(i)
			}
			b.ReportAllocs()
			for b.Loop() {
				l.ReplaceInstances(list)
			}
		})
	}
}
