package ledger_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// A parent is unsettled from a review until the watch or a live read tells what
// became of the write.
func TestUnsettled(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, settle := range map[string]func(*ledger.Ledger){
		"the watch shows the write":             func(l *ledger.Ledger) { l.ObserveInstance(instance(0, "11", crashing)) },
		"the watch shows one that beat it":      func(l *ledger.Ledger) { l.ObserveInstance(instance(0, "12", ready)) },
		"a live read shows it was never stored": func(l *ledger.Ledger) { l.Settle(instance(0, "", ready).NamespacedName, now, instance(0, "10", ready)) },
		"the Instance is gone":                  func(l *ledger.Ledger) { l.ForgetInstance(instance(0, "", ready).NamespacedName, "i0") },
	} {
		t.Run(name, func(t *testing.T) {
			l := ledger.New(nil)
			l.ObserveWorkload(&ledger.Workload{Parent: workload, ResourceVersion: "1"})
			l.ObserveDeployment(deploymentVersion("1"))
			l.ObserveInstance(instance(0, "10", ready))
			l.ObserveInstance(instance(1, "10", ready))
			unsettled := func() [2]bool { return [2]bool{l.Unsettled(deployment), l.Unsettled(workload)} }
			assert.Equal(t, [2]bool{}, unsettled())
			assert.True(t, l.Propose(instance(0, "10", crashing), "10", now))
			assert.True(t, l.Propose(instance(0, "10", crashing), "10", now), "a review may come twice")
			assert.Equal(t, [2]bool{true, true}, unsettled())
			l.ObserveInstance(instance(1, "11", crashing))
			assert.Equal(t, [2]bool{true, true}, unsettled(), "another Instance settles nothing")
			settle(l)
			assert.Equal(t, [2]bool{}, unsettled())
		})
	}
}
