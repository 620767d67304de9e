package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// Two variables of the model test: the seed to play again, and how long to play.
const (
	modelSeed   = "CAUSEWAY_MODEL_SEED"
	modelBudget = "CAUSEWAY_MODEL_BUDGET"
)

// Whatever happens, in whatever order: once it is quiet, every parent says the
// pure function of its children and its base, nothing moves, and the overlay
// gives the same answer as whoever wrote last.
//
// What is done is a function of the seed alone. What the platform does in
// between is not, so a seed plays the same story again, not the same run.
func TestModel(t *testing.T) {
	seed, budget := fromEnvironment(t)
	t.Logf("to play this again: %s=%d %s=%s", modelSeed, seed, modelBudget, budget)
	s := start(t, environment.Options{
		Statuspatch: 2,
		Platform:    &platform.Options{Parallel: true, Networking: true},
	})
	m := newModel(s, seed)
	began, quiet := time.Now(), 0
	for ; time.Since(began) < budget && !t.Failed(); quiet++ {
		for range 6 + m.random.IntN(15) {
			m.step()
		}
		m.quiet()
	}
	t.Logf("%d quiet points; done: %v", quiet, m.done)
	t.Logf("at quiet points the parents said, by rank: %v", m.said)
	require.GreaterOrEqual(t, quiet, 2, "too slow to show anything")
}

func fromEnvironment(t *testing.T) (seed uint64, budget time.Duration) {
	t.Helper()
	seed, budget = rand.Uint64()%1_000_000, time.Minute
	var err error
	if text := os.Getenv(modelSeed); text != "" {
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, modelSeed)
	}
	if text := os.Getenv(modelBudget); text != "" {
		budget, err = time.ParseDuration(text)
		require.NoError(t, err, modelBudget)
	}
	return seed, budget
}

// model plays one story.
type model struct {
	*hand
	random *rand.Rand
	rude   *rude
	styles []style
	ops    []op
	total  int

	// done counts what was done, said what parents said at quiet points.
	done map[string]int
	said map[reason.Rank]int
}

// op is one thing that may happen. It answers what it was done to, or empty
// where there was nothing to do it to.
type op struct {
	name   string
	weight int
	do     func() string
}

func newModel(s *scene, seed uint64) *model {
	m := &model{
		hand: s.byHand(), random: rand.New(rand.NewPCG(seed, seed)),
		done: map[string]int{}, said: map[reason.Rank]int{},
	}
	m.rude = s.rude("")
	m.styles = m.rude.styles()
	m.rejectMarked()
	m.ops = m.operations()
	for _, o := range m.ops {
		m.total += o.weight
	}
	return m
}

// step does one thing.
func (m *model) step() {
	m.t.Helper()
	n := m.random.IntN(m.total)
	for _, o := range m.ops {
		if n -= o.weight; n >= 0 {
			continue
		}
		to := o.do()
		if to == "" {
			m.done["(nothing to do it to)"]++
			return
		}
		m.done[o.name]++
		m.t.Logf("%s %s", o.name, to)
		return
	}
}

// quiet lets the webhooks be called again, waits until nothing moves and all
// is true, and then has a lossy controller write over every parent.
func (m *model) quiet() {
	m.t.Helper()
	m.StatusFront.SetOpen(true)
	require.NoError(m.t, m.WaitActive(m.ctx))
	// The next write is what makes a Workload true whose repairs were undone time
	// and again while the overlay was away.
	m.wakePlatform()
	rest := m.atRest(30 * time.Second)
	m.t.Logf("quiet: %d workloads, %d deployments, %d instances", len(rest.workloads), len(rest.deployments), len(rest.instances))
	for _, w := range rest.workloads {
		if mine(&w, w.Status.Conditions) {
			m.said[reason.RankOf(saysOf(w.Status.Conditions, computeapi.AvailableCondition).Reason)]++
		}
	}
	for i := range rest.deployments {
		d := &rest.deployments[i]
		if mine(d, d.Status.Conditions) {
			m.said[reason.RankOf(saysOf(d.Status.Conditions, computeapi.AvailableCondition).Reason)]++
		}
	}
	m.overwriteAll(rest)
}

// pick is one of a list, and false of an empty one.
func pick[T any](m *model, list []T) (one T, ok bool) {
	if len(list) == 0 {
		return one, false
	}
	return list[m.random.IntN(len(list))], true
}

// choose is one of some things to choose from.
func choose[T any](m *model, from ...T) T { return from[m.random.IntN(len(from))] }

// messages are texts of Instances, some of them hard to carry.
func (m *model) message() string {
	return choose(m, "", "exit code 1", "100% of %s %d", "two\nlines\tand a tab", "déjà vu, 日本語", "1 of 1 instances could not pull its image.",
		`placement "main": `+crashDetail, fmt.Sprintf("%0*d", 1500, 7))
}
