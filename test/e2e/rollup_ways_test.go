package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

// For the same Instances and the same base, the request path, the overlay and
// the loop store the same conditions, each with the other two off: the pure
// function of what there is.
func TestThreeWaysToTheSameAnswer(t *testing.T) {
	seed, _ := fromEnvironment(t)
	t.Logf("to play this again: %s=%d", modelSeed, seed)
	s := start(t, environment.Options{})
	stories := makeStories(rand.New(rand.NewPCG(seed, seed)), 24)
	answers := map[string][]map[string]said{}
	for _, way := range []struct {
		name string
		args []string
		tell func(h *hand, prefix string, stories []story) []cast
	}{
		{"request", []string{"--overlay=false", "--repair-loop=false"}, (*hand).parentsFirst},
		{"overlay", []string{"--repair-loop=false"}, (*hand).instancesFirst},
		{"loop", nil, (*hand).allWhileAway},
	} {
		s.in(way.name, func(s *scene) {
			p := s.sidecarWith(way.args...)
			answers[way.name] = s.byHand().answers(way.tell(s.byHand(), way.name, stories), way.name)
			require.NoError(s.t, p.Stop())
			s.StatusFront.SetOpen(true)
		})
	}
	ranks := map[reason.Rank]int{}
	for i := range stories {
		require.Equal(t, answers["request"][i], answers["overlay"][i], "story %d: %s", i, stories[i])
		require.Equal(t, answers["request"][i], answers["loop"][i], "story %d: %s", i, stories[i])
		ranks[reason.RankOf(answers["loop"][i]["deployment"].Reason)]++
	}
	t.Logf("the deployments said, by rank: %v", ranks)
}

// story is the Instances of one deployment and what its controller says.
type story struct {
	instances [][]metav1.Condition
	base      said
}

func (st story) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "base %s", st.base.Reason)
	for _, conditions := range st.instances {
		b.WriteString("; instance")
		for _, c := range conditions {
			fmt.Fprintf(&b, " %s=%s/%s", c.Type, c.Status, c.Reason)
		}
	}
	return b.String()
}

func makeStories(random *rand.Rand, n int) []story {
	m := &model{random: random}
	stories := make([]story, n)
	for i := 0; i < n; {
		stories[i].instances = nil
		speaks := false
		for range 1 + random.IntN(4) {
			conditions := []metav1.Condition{
				condition("Programmed", metav1.ConditionTrue, "Programmed", ""),
				condition("Available", metav1.ConditionTrue, "Available", ""),
				condition("Ready", metav1.ConditionTrue, "Available", ""),
			}
			if random.IntN(5) > 0 { // most of them fail
				c := m.oddCondition()
				for c.Status == metav1.ConditionTrue || c.Type == "Degraded" || c.Type == "Running" {
					c = m.oddCondition()
				}
				conditions = []metav1.Condition{c, condition("Ready", metav1.ConditionFalse, "Pending", "")}
				if c.Type == "Ready" {
					conditions = conditions[:1]
				}
			}
			stories[i].instances = append(stories[i].instances, conditions)
			speaks = speaks || rollup.ReadInstance(false, conditions) != rollup.Contribution{}
		}
		if !speaks {
			continue // what changes nothing reaches no parent
		}
		stories[i].base = choose(m, provisioning, provisioning,
			said{metav1.ConditionFalse, "NoMatchingLocation", "The cell was not told which location it serves"},
			said{metav1.ConditionFalse, "LocationMismatch", "The deployment asks for another location"},
			said{metav1.ConditionFalse, "ReferencedDataNotReady", "1 of 1 desired instances waiting for companion propagation"},
			said{metav1.ConditionFalse, "NobodyKnows", "at all"})
		i++
	}
	return stories
}

// sidecarWith runs a sidecar with arguments of its own and waits until it is
// the active one.
func (s *scene) sidecarWith(args ...string) *environment.Process {
	s.t.Helper()
	p, err := environment.StartProcess(s.ctx, fmt.Sprintf("statuspatch-%v", args), binary, nil, append([]string{"statuspatch",
		"--kubeconfig=" + s.Kubeconfig(), "--cert-dir=" + s.CertDir(), "--shutdown-delay=0s"}, args...)...)
	require.NoError(s.t, err)
	s.Sidecars = append(s.Sidecars, p)
	require.NoError(s.t, p.WaitReady(s.ctx))
	s.StatusFront.SetBackends(p)
	s.waitFor("it to be active", func() (bool, string) { return s.StatusFront.Active() == p, "not yet" })
	return p
}

// cast are the objects of one story.
type cast struct {
	family
	instances []*computeapi.Instance
	story
}

// casts makes the parents and the Instances of every story, none of which has
// reported yet.
func (h *hand) casts(prefix string, stories []story) []cast {
	h.t.Helper()
	var all []cast
	for i, st := range stories {
		c := cast{family: h.family(fmt.Sprintf("%s-%d", prefix, i), "main"), story: st}
		for n := range st.instances {
			c.instances = append(c.instances, h.instance(c.deployments[0], n))
		}
		all = append(all, c)
	}
	return all
}

// tellParents writes what the controllers say, tellInstances what the Instances
// report.
func (h *hand) tellParents(casts []cast) {
	h.t.Helper()
	for _, c := range casts {
		h.writeDeployment(c.deployments[0], int32(len(c.instances)), c.base)
		h.writeWorkload(c.workload, noPlacement)
	}
}

func (h *hand) tellInstances(casts []cast) {
	h.t.Helper()
	for _, c := range casts {
		for n, i := range c.instances {
			i.Status.Conditions = nil
			h.tell(i, c.story.instances[n]...)
		}
	}
}

// parentsFirst has what the parents' controllers say stored before any Instance
// reports, so that the requests of the Instances do the rest.
func (h *hand) parentsFirst(prefix string, stories []story) []cast {
	casts := h.casts(prefix, stories)
	h.tellParents(casts)
	h.caughtUp(prefix)
	h.tellInstances(casts)
	return casts
}

// instancesFirst has the Instances report while nobody listens, and the
// parents' controllers write when the overlay does.
func (h *hand) instancesFirst(prefix string, stories []story) []cast {
	h.StatusFront.SetOpen(false)
	casts := h.casts(prefix, stories)
	h.tellInstances(casts)
	h.StatusFront.SetOpen(true)
	h.caughtUp(prefix)
	h.tellParents(casts)
	return casts
}

// allWhileAway has everything written while nobody listens, and the loop find
// it.
func (h *hand) allWhileAway(prefix string, stories []story) []cast {
	h.StatusFront.SetOpen(false)
	casts := h.casts(prefix, stories)
	h.tellInstances(casts)
	h.tellParents(casts)
	h.atRest(patience)
	return casts
}

// caughtUp returns when the watch has delivered the last Instance that was made
// and, with it, all before: until then its deployment, of two, is taken for one
// that is carried and not written.
func (h *hand) caughtUp(prefix string) {
	h.t.Helper()
	f := h.family("probe-"+prefix, "main")
	i := h.instance(f.deployments[0], 0)
	h.instance(f.deployments[0], 1)
	h.writeDeployment(f.deployments[0], 2, provisioning)
	h.writeWorkload(f.workload, noPlacement)
	reasons := []string{"ImageUnavailable", "ConfigurationError"}
	h.waitFor("the watch to have delivered", func() (bool, string) {
		slices.Reverse(reasons)
		h.fails(i, reasons[0], "")
		got := h.deploymentSays(f.deployments[0].Name)
		return got.Reason == reasons[0], got.Message
	})
}

// answers are what the parents of each story say, and the pure function says so
// too.
func (h *hand) answers(casts []cast, way string) []map[string]said {
	h.t.Helper()
	assert.Empty(h.t, h.look().wrong(), way)
	var all []map[string]said
	for _, c := range casts {
		w, d, p := h.says(c.family)
		all = append(all, map[string]said{"workload": w, "deployment": d, "placement": p})
	}
	return all
}
