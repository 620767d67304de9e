package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

func TestReportedFollowsTheStoredVersions(t *testing.T) {
	l := ledger.New(nil)
	version := func(resourceVersion, reason string) *ledger.Workload {
		w := &ledger.Workload{Parent: workload, ResourceVersion: resourceVersion}
		if reason != "" {
			w.Conditions.Available = &ledger.Condition{Condition: metav1.Condition{Reason: reason}}
		}
		return w
	}
	assert.Empty(t, l.Reported())
	l.ObserveWorkload(version("1", ""))
	assert.Equal(t, map[string]int{"": 1}, l.Reported())
	l.ObserveWorkload(version("3", "Failed"))
	assert.Equal(t, map[string]int{"Failed": 1}, l.Reported())
	l.ObserveWorkload(version("2", "Old"))
	l.RefreshWorkload(version("3", "Same"))
	assert.Equal(t, map[string]int{"Failed": 1}, l.Reported(), "an older version changes nothing")
	l.RefreshWorkload(version("4", "Stopped"))
	got := l.Reported()
	got["Stopped"] = 7
	assert.Equal(t, map[string]int{"Stopped": 1}, l.Reported(), "a copy was handed out")
	l.ReplaceWorkloads(nil)
	assert.Empty(t, l.Reported())
	l.ForgetWorkload(workload.UID)
	assert.Empty(t, l.Reported())
}
