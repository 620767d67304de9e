package statuspatch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func degradedJSON() map[string]any {
	return conditionJSON("Degraded", "True", "InstanceCrashing", "1 of 2 instances is repeatedly exiting and restarting: it exits.")
}

func partlyJSON() map[string]any {
	return conditionJSON("Available", "True", "StableInstanceFound", "1/2 instances are ready; 1 is repeatedly exiting and restarting")
}

// Degraded comes and goes with the flag; everybody else's conditions stay where
// they are.
func TestDegradedComesAndGoes(t *testing.T) {
	w := newWorld(t)
	foreign := conditionJSON("Foreign", "True", "Other", "stays")
	w.put(t, deploymentJSON(1, 2, partlyJSON(), foreign),
		instanceJSON(0, 1, readyJSON()), instanceJSON(1, 1, crashingJSON()))
	conditions := func() (found []string) {
		for _, c := range decoded[deploymentObject](t, w.stub.get(resourceDeployments, "d1")).Status.Conditions {
			found = append(found, c.Type+" "+string(c.Status)+" "+c.Reason+" "+c.Message)
		}
		return found
	}
	write := func() {
		require.NoError(t, w.writer.join(deploymentParent("d1"), causeRequest).wait(t.Context()))
	}
	before := conditions()
	write()
	assert.Equal(t, before, conditions(), "off unless asked for")

	w.writer.degraded = true
	write()
	assert.Equal(t, append(before, "Degraded True InstanceCrashing 1 of 2 instances is repeatedly exiting and restarting: it exits."), conditions())
	stored := w.stub.stored()
	write()
	assert.Equal(t, stored, w.stub.stored(), "what is right is not written again")

	w.put(t, instanceJSON(2, 1, crashingJSON())) // the deployment is carried no more than before
	w.writer.degraded = false
	write()
	assert.NotContains(t, conditions(), "Degraded")
	assert.Len(t, conditions(), 2)
	assert.Equal(t, before[1], conditions()[1])
}

func TestDegradedOfAnotherWriterStays(t *testing.T) {
	w := newWorld(t)
	theirs := conditionJSON("Degraded", "False", "Well", "theirs")
	w.put(t, deploymentJSON(1, 1, theirs, provisioningJSON()), instanceJSON(0, 1, crashingJSON()))
	require.NoError(t, w.writer.join(deploymentParent("d1"), causeRequest).wait(t.Context()))
	assert.Equal(t, theirs, conditionsOf(w.stub.get(resourceDeployments, "d1"))[0])
}

// The platform's syncer replaces a whole status; the overlay carries Degraded.
func TestTheOverlayCarriesDegraded(t *testing.T) {
	w := newWorld(t)
	w.overlay.degraded = true
	w.put(t, instanceJSON(0, 1, readyJSON()), instanceJSON(1, 1, crashingJSON()))
	req := reviewOf(t, managed(deploymentJSON(1, 2, partlyJSON(), degradedJSON()), "old"),
		managed(deploymentJSON(1, 2, dated(conditionJSON("Available", "True", "StableInstanceFound", "1/2 instances are ready"), longAgo)), "incoming"))
	response, got := w.overlay.deployment(t.Context(), req)
	assert.Equal(t, outcomeApplied, got)
	stored := applied(t, req, response)
	if diff := cmp.Diff([]any{partlyJSON(), degradedJSON()}, conditionsOf(stored)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	owner := stored["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)["manager"]
	assert.Equal(t, "old", owner, "a write that says nothing new is a true no-op")
}
