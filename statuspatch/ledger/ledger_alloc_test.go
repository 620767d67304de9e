package ledger_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// One change of an Instance allocates the same whether it has ten siblings or
// ten thousand: the part of the benchmark that is the same on every machine.
// Four pay for the views (the failures of the deployment, the deployments of the
// Workload with the failures of each) and for the pending entry. The test's own
// Instances are made beforehand. A node of the tree that is split or merged now
// and then stays below one on average, which is what AllocsPerRun counts.
func TestAnUpdateAllocatesFourTimesHoweverManySiblings(t *testing.T) {
	for _, n := range []int{10, 10_000} {
		t.Run(fmt.Sprint("siblings=", n), func(t *testing.T) {
			s, l := newSiblings(n)
			const runs = 1000
			changes := make([]change, runs+1) // AllocsPerRun runs once more, to warm up
			for i := range changes {
				changes[i] = s.change()
			}
			taken := 0
			assert.InDelta(t, 4, testing.AllocsPerRun(runs, func() {
				if carry(l, changes[taken]) {
					taken++
				}
			}), 0)
			assert.Len(t, changes, taken, "changes taken in")
		})
	}
}
