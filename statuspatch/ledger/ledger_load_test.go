package ledger_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// The representative is found at once, whoever comes and goes.
func TestTheRepresentativeIsTheFirstOfTenThousand(t *testing.T) {
	const siblings = 10_000
	l := ledger.New(nil)
	l.ObserveDeployment(&ledger.Deployment{Parent: loadedDeployment(0), ResourceVersion: "1"})
	for n := range siblings {
		l.ObserveInstance(loadedInstance(0, n, 1, true))
	}
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
