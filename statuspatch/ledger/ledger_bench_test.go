package ledger_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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

// loaded is a ledger of one deployment with so many Instances, all failing, so
// that each stands in the order of those who could speak.
func loaded(siblings int) *ledger.Ledger {
	l := ledger.New(nil)
	l.ObserveDeployment(&ledger.Deployment{Parent: loadedDeployment(0), ResourceVersion: "1"})
	for n := range siblings {
		l.ObserveInstance(loadedInstance(0, n, 1, true))
	}
	return l
}

// BenchmarkUpdateAmongSiblings is one change of an Instance and the view that its review
// computes from. It costs the same for ten siblings as for ten thousand.
func BenchmarkUpdateAmongSiblings(b *testing.B) {
	for _, siblings := range []int{10, 1000, 10_000, 100_000} {
		b.Run(strconv.Itoa(siblings), func(b *testing.B) {
			l := loaded(siblings)
			b.ReportAllocs()
			version := 1
			for b.Loop() {
				version++
				l.ObserveInstance(loadedInstance(0, siblings/2, version, version%2 == 0))
				if _, ok := l.Deployment(loadedDeployment(0).UID); !ok {
					b.Fatal("the deployment is gone")
				}
			}
		})
	}
}

// BenchmarkProposeAmongSiblings is the same by way of a review that is settled by the watch.
func BenchmarkProposeAmongSiblings(b *testing.B) {
	for _, siblings := range []int{10, 10_000} {
		b.Run(strconv.Itoa(siblings), func(b *testing.B) {
			l := loaded(siblings)
			b.ReportAllocs()
			version := 1
			for b.Loop() {
				i := loadedInstance(0, siblings/2, version, version%2 == 0)
				l.Propose(i, strconv.Itoa(version), time.Time{})
				version++
				i.ResourceVersion = strconv.Itoa(version)
				l.ObserveInstance(i)
			}
		})
	}
}

// What one update allocates does not depend on how many siblings there are: the
// part of the benchmark that is the same on every machine.
func TestAnUpdateAllocatesTheSameForTenSiblingsAsForTenThousand(t *testing.T) {
	perUpdate := func(siblings int) float64 {
		l := loaded(siblings)
		version := 1
		return testing.AllocsPerRun(1000, func() {
			version++
			l.ObserveInstance(loadedInstance(0, siblings/2, version, version%2 == 0))
			l.Deployment(loadedDeployment(0).UID)
		})
	}
	few, many := perUpdate(10), perUpdate(10_000)
	// A node of the tree is split or merged now and then.
	assert.InDelta(t, few, many, 4)
}

// The representative is found at once, whoever comes and goes.
func TestTheRepresentativeIsTheFirstOfTenThousand(t *testing.T) {
	const siblings = 10_000
	l := loaded(siblings)
	for n := range siblings - 1 {
		l.ObserveInstance(loadedInstance(0, n, 2, false))
		if n%1000 != 0 {
			continue
		}
		view, _ := l.Deployment(loadedDeployment(0).UID)
		assert.Equal(t, n+1, view.Tally.Failures[0].Representative.Ordinal)
		assert.Equal(t, siblings-n-1, view.Tally.Failures[0].Count)
	}
}

// Instances that come and go leave nothing, be they seen, pending or both.
func TestChurnLeavesNothing(t *testing.T) {
	l := ledger.New(nil)
	for round := range 20 {
		for n := range 1000 {
			i := loadedInstance(n%7, n, 10*round+1, n%2 == 0)
			i.UID += types.UID(strconv.Itoa(round))
			l.ObserveInstance(i)
			l.Propose(loadedInstance(n%7, n, 10*round+1, n%3 == 0), i.ResourceVersion, time.Time{})
			if n%2 == 0 {
				stored := loadedInstance(n%7, n, 10*round+2, n%3 == 0)
				stored.UID = i.UID
				l.ObserveInstance(stored)
			}
		}
		for n := range 1000 {
			name := types.NamespacedName{Namespace: "shop", Name: fmt.Sprintf("d%d-%d", n%7, n)}
			uid := types.UID("uid-" + name.Name)
			l.ForgetInstance(name, uid+types.UID(strconv.Itoa(round)))
			l.ForgetInstance(name, uid)
		}
		assert.Equal(t, ledger.Sizes{}, l.Sizes())
	}
}
