package statuspatch

import (
	"strconv"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// logged has the world log at a level and returns the lines so far.
func (w *world) logged(level int) *[]string {
	lines := &[]string{}
	var mu sync.Mutex // both parents are written at once
	log := funcr.New(func(_, line string) {
		mu.Lock()
		defer mu.Unlock()
		*lines = append(*lines, line)
	}, funcr.Options{Verbosity: level})
	w.writer.log, w.instances.log, w.overlay.log, w.shell.log = log, log, log, log
	return lines
}

func TestAChangedReasonIsOneLine(t *testing.T) {
	w := newWorld(t)
	w.put(t, workloadJSON(provisioningJSON()), deploymentJSON(1, 1, provisioningJSON()))
	lines := w.logged(0)

	w.shell.answer(t.Context(), hookInstances, reviewOf(t, instanceJSON(0, 1, waitingJSON()), instanceJSON(0, 1, crashingJSON())), w.instances.review)
	assert.ElementsMatch(t, []string{
		`"level"=0 "msg"="Reason changed" "WorkloadDeployment"={"name"="d1" "namespace"="shop"} "was"="InstancesProvisioning" "reason"="InstanceCrashing" "cause"="request"`,
		`"level"=0 "msg"="Reason changed" "Workload"={"name"="api" "namespace"="shop"} "was"="InstancesProvisioning" "reason"="InstanceCrashing" "cause"="request"`,
	}, *lines)

	// The sentence changes, and the reason does not.
	w.shell.answer(t.Context(), hookInstances, reviewOf(t, instanceJSON(0, 1, crashingJSON()),
		instanceJSON(0, 1, conditionJSON("Ready", "False", "InstanceCrashing", "it exits again"))), w.instances.review)
	assert.Contains(t, w.available(t, resourceWorkloads, "api"), "it exits again")
	assert.Len(t, *lines, 2)
}

func TestHealthyReviewsAreNoNews(t *testing.T) {
	w := newWorld(t)
	available := conditionJSON("Available", "True", "StableInstanceFound", "1/1 instances are ready")
	w.put(t, workloadJSON(availableJSON()), deploymentJSON(1, 1, available), instanceJSON(0, 1, readyJSON()))
	lines := w.logged(0)
	for n := range 1000 {
		// An Instance's addresses change, and a controller writes its parents.
		after := instanceJSON(0, 1, readyJSON(), conditionJSON("Other", "True", "N"+strconv.Itoa(n), ""))
		w.shell.answer(t.Context(), hookInstances, reviewOf(t, instanceJSON(0, 1, readyJSON()), after), w.instances.review)
		w.shell.answer(t.Context(), hookDeployments, reviewOf(t, deploymentJSON(1, 1, available), deploymentJSON(1, 1, available)), w.overlay.deployment)
	}
	require.Empty(t, *lines)
}

// What an object says is logged at no level: only where it is, and its reasons.
func TestNothingOfAnObjectIsLogged(t *testing.T) {
	w := newWorld(t)
	w.put(t, workloadJSON(provisioningJSON()), deploymentJSON(1, 1, provisioningJSON()))
	lines := w.logged(10)
	w.shell.answer(t.Context(), hookInstances, reviewOf(t, instanceJSON(0, 1, waitingJSON()), instanceJSON(0, 1, crashingJSON())), w.instances.review)
	broken := reviewOf(t, instanceJSON(0, 1, waitingJSON()), instanceJSON(0, 1, crashingJSON()))
	broken.Object.Raw = []byte(`{"kind":"Instance","status":"it exits"}`)
	w.shell.answer(t.Context(), hookInstances, broken, w.instances.review)
	w.shell.answer(t.Context(), hookWorkloads, broken, w.overlay.workload)
	require.Len(t, *lines, 4)
	for _, line := range *lines {
		assert.NotContains(t, line, "it exits")
	}
}
