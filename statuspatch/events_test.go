package statuspatch

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// newsroom is an announcer over a world, with a clock of its own and what it
// recorded.
type newsroom struct {
	*world
	*announcer
	at       time.Time
	recorded []string
	version  int
}

func newNewsroom(t *testing.T) *newsroom {
	r := &newsroom{world: newWorld(t), at: time.Unix(1_000_000, 0)}
	l := &loop{ledger: r.world.ledger, replicasReady: true, now: time.Now}
	r.announcer = newAnnouncer(r.world.ledger, r.world.tenure, l.plan, func(p ledger.Parent, n news) {
		r.recorded = append(r.recorded, p.Kind.String()+" "+n.eventType+" "+n.reason+": "+n.note)
	})
	r.announcer.now = func() time.Time { return r.at }
	t.Cleanup(r.announcer.queue.ShutDown)
	return r
}

// observe has the watch deliver the deployment with this condition and an
// Instance that says so too.
func (r *newsroom) observe(t *testing.T, condition, instance map[string]any) {
	t.Helper()
	r.put(t, instance, deploymentJSON(1, 1, condition))
}

// told are the events since the last call.
func (r *newsroom) news() []string {
	news := r.recorded
	r.recorded = nil
	return news
}

func (r *newsroom) later(d time.Duration) { r.at = r.at.Add(d) }

const crashingNote = "1 of 1 instances is repeatedly exiting and restarting: it exits."

func failingJSON() map[string]any {
	return conditionJSON("Available", "False", "InstanceCrashing", crashingNote)
}

// atVersion has the Instance move on, as each of its writes does.
func (r *newsroom) atVersion(instance map[string]any) map[string]any {
	r.version++
	instance["metadata"].(map[string]any)["resourceVersion"] = "50" + strings.Repeat("0", r.version)
	return instance
}

func TestAFailureIsToldOnceAndThatItIsOverOnce(t *testing.T) {
	r := newNewsroom(t)
	d := deploymentParent("d1")
	steps := []struct {
		name                string
		condition, instance map[string]any
		want                []string
	}{
		{"on its way", provisioningJSON(), waitingJSON(), nil},
		{"it fails", failingJSON(), crashingJSON(), []string{"WorkloadDeployment Warning InstanceCrashing: " + crashingNote}},
		{"it still fails", failingJSON(), crashingJSON(), nil},
		{"it is on its way again", provisioningJSON(), waitingJSON(), nil},
		{"it fails the same way", failingJSON(), crashingJSON(), nil},
		{"it fails another way", conditionJSON("Available", "False", "ImageUnavailable", "1 of 1 instances could not pull its image."),
			conditionJSON("Ready", "False", "ImageUnavailable", ""),
			[]string{"WorkloadDeployment Warning ImageUnavailable: 1 of 1 instances could not pull its image."}},
		{"it is well", availableJSON(), readyJSON(), []string{"WorkloadDeployment Normal StableInstanceFound: 1/1 instances are ready"}},
		{"it is still well", availableJSON(), readyJSON(), nil},
		{"it waits for the platform", conditionJSON("Available", "False", "Unschedulable", "1 of 1 instances cannot be scheduled yet."),
			conditionJSON("Ready", "False", "Unschedulable", ""), nil},
	}
	for _, s := range steps {
		r.later(time.Minute)
		r.observe(t, s.condition, r.atVersion(instanceJSON(0, 1, s.instance)))
		assert.Zero(t, r.look(d), s.name)
		assert.Equal(t, s.want, r.news(), s.name)
	}
}

func TestNothingIsToldOfAStateThatMayNotBeStored(t *testing.T) {
	r := newNewsroom(t)
	d := deploymentParent("d1")
	r.observe(t, availableJSON(), r.atVersion(instanceJSON(0, 1, readyJSON())))
	r.look(d)

	// A review came by: the parent is written, and its Instance is not.
	proposed := readInstance(decoded[instanceObject](t, instanceJSON(0, 1, crashingJSON())))
	base := r.world.stub.get(resourceInstances, "i0")["metadata"].(map[string]any)["resourceVersion"].(string)
	require.True(t, r.world.ledger.Propose(proposed, base, r.at))
	r.put(t, deploymentJSON(1, 1, failingJSON()))
	assert.Equal(t, announceAfter, r.look(d), "it is looked at again")
	r.later(settleAfter)
	assert.Equal(t, announceAfter, r.look(d))
	assert.Empty(t, r.news())

	// The live read finds that it never was; the loop puts the parent right.
	live := readInstance(decoded[instanceObject](t, r.world.stub.get(resourceInstances, "i0")))
	r.world.ledger.Settle(proposed.NamespacedName, time.Unix(1_000_000, 0), live)
	assert.Equal(t, announceAfter, r.look(d), "what is stored is not what it should be")
	r.put(t, deploymentJSON(1, 1, availableJSON()))
	assert.Zero(t, r.look(d))
	assert.Empty(t, r.news(), "a ghost leaves no event")
}

// On a parent whose Instances change all the time, something is always pending;
// what has been stored for long is true all the same.
func TestABusyParentIsToldOfInTheEnd(t *testing.T) {
	r := newNewsroom(t)
	d := deploymentParent("d1")
	r.observe(t, failingJSON(), r.atVersion(instanceJSON(0, 1, crashingJSON())))
	proposed := readInstance(decoded[instanceObject](t, instanceJSON(0, 1, crashingJSON())))
	require.True(t, r.world.ledger.Propose(proposed, "9"+strings.Repeat("0", 9), r.at))
	assert.Equal(t, announceAfter, r.look(d))
	r.later(unsettledMost - time.Second)
	counted := conditionJSON("Available", "False", "InstanceCrashing", "1 of 1 instances is repeatedly exiting and restarting: it exits again.")
	r.put(t, deploymentJSON(1, 1, counted))
	r.look(d)
	assert.Empty(t, r.news())
	r.later(time.Second)
	r.put(t, deploymentJSON(1, 1, failingJSON()))
	assert.Zero(t, r.look(d), "another message of the same reason does not put it off")
	assert.Len(t, r.news(), 1)
}

func TestAStandbyNotesAndTellsNothing(t *testing.T) {
	r := newNewsroom(t)
	d := deploymentParent("d1")
	r.world.tenure.end()
	r.observe(t, failingJSON(), r.atVersion(instanceJSON(0, 1, crashingJSON())))
	assert.Zero(t, r.look(d))
	r.world.tenure.begin()
	r.world.tenure.renewed.Store(int64(100 * time.Hour))
	assert.Zero(t, r.look(d))
	assert.Empty(t, r.news(), "the active process told it")
}

func TestWhatWasStoredBeforeTheWatchBeganWasTold(t *testing.T) {
	r := newNewsroom(t)
	d := deploymentParent("d1")
	r.observe(t, failingJSON(), r.atVersion(instanceJSON(0, 1, crashingJSON())))
	r.begin(ledger.KindDeployment)
	assert.Zero(t, r.look(d))
	assert.Empty(t, r.news())
	r.observe(t, availableJSON(), r.atVersion(instanceJSON(0, 1, readyJSON())))
	assert.Zero(t, r.look(d))
	assert.Len(t, r.news(), 1, "that it is over was not")
}

func TestEventsAreBounded(t *testing.T) {
	r := newNewsroom(t)
	d := deploymentParent("d1")
	fail := func() { r.observe(t, failingJSON(), r.atVersion(instanceJSON(0, 1, crashingJSON()))) }
	fail()
	assert.Zero(t, r.look(d))
	r.later(time.Second)
	r.observe(t, availableJSON(), r.atVersion(instanceJSON(0, 1, readyJSON())))
	assert.Equal(t, announceEvery-time.Second, r.look(d), "one parent's events keep their distance")
	assert.Len(t, r.news(), 1)

	r.limit.SetBurst(0)
	r.later(time.Minute)
	assert.Equal(t, announceAfter, r.look(d), "and so do those of all")
	assert.Empty(t, r.news())
}

func TestAParentThatIsGoneIsForgotten(t *testing.T) {
	r := newNewsroom(t)
	d := deploymentParent("d1")
	r.observe(t, failingJSON(), r.atVersion(instanceJSON(0, 1, crashingJSON())))
	r.look(d)
	r.world.ledger.ForgetDeployment(d.UID)
	assert.Zero(t, r.look(d))
	assert.Empty(t, r.announcer.told)
}

func TestEventTextsFitTheAPI(t *testing.T) {
	assert.Equal(t, "short", atMost("short", 5))
	assert.Equal(t, "ab...", atMost("abcdef", 5))
	assert.Equal(t, "é...", atMost("ééééé", 6), "cut on a rune")
}
