package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
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
		tell func(h *hand, prefix string, stories []story) []family
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
	for i := range stories {
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
		}
		stories[i].base = choose(m, provisioning, provisioning,
			said{metav1.ConditionFalse, "NoMatchingLocation", "The cell was not told which location it serves"},
			said{metav1.ConditionFalse, "LocationMismatch", "The deployment asks for another location"},
			said{metav1.ConditionFalse, "ReferencedDataNotReady", "1 of 1 desired instances waiting for companion propagation"},
			said{metav1.ConditionFalse, "NobodyKnows", "at all"})
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

// each makes the parents and the Instances of every story, the latter without
// a state.
func (h *hand) each(prefix string, stories []story, tell func(f family, instances []*computeapi.Instance, st story)) []family {
	h.t.Helper()
	var families []family
	for i, st := range stories {
		f := h.family(fmt.Sprintf("%s-%d", prefix, i), "main")
		var instances []*computeapi.Instance
		for n := range st.instances {
			instances = append(instances, h.instance(f.deployments[0], n))
		}
		tell(f, instances, st)
		families = append(families, f)
	}
	return families
}

func (h *hand) tellParents(f family, st story) {
	h.t.Helper()
	h.writeDeployment(f.deployments[0], int32(len(st.instances)), st.base)
	h.writeWorkload(f.workload, noPlacement)
}

func (h *hand) tellInstances(instances []*computeapi.Instance, st story) {
	h.t.Helper()
	for n, i := range instances {
		i.Status.Conditions = nil
		h.tell(i, st.instances[n]...)
	}
}

// parentsFirst has what the parents' controllers say stored before any Instance
// reports, so that the requests of the Instances do the rest. Reports that
// change nothing reach no parent, so that the first Instance reports twice.
func (h *hand) parentsFirst(prefix string, stories []story) []family {
	return h.each(prefix, stories, func(f family, instances []*computeapi.Instance, st story) {
		h.tellParents(f, st)
		h.fails(instances[0], "ZzzLast", "to be replaced")
		h.tellInstances(instances, st)
	})
}

// instancesFirst has the Instances report while nobody listens, and the
// parents' controllers write when the overlay does.
func (h *hand) instancesFirst(prefix string, stories []story) []family {
	h.StatusFront.SetOpen(false)
	var told []story
	families := h.each(prefix, stories, func(_ family, instances []*computeapi.Instance, st story) {
		h.tellInstances(instances, st)
		told = append(told, st)
	})
	h.StatusFront.SetOpen(true)
	h.caughtUp()
	for i, f := range families {
		h.tellParents(f, told[i])
	}
	return families
}

// caughtUp returns when the sidecar's watch has delivered all that was written
// so far: one more Instance, whose report the overlay then knows.
func (h *hand) caughtUp() {
	h.t.Helper()
	f := h.family("probe", "main")
	h.StatusFront.SetOpen(false)
	h.fails(h.instance(f.deployments[0], 0), "ImageUnavailable", "")
	h.StatusFront.SetOpen(true)
	h.waitFor("the watch to have delivered", func() (bool, string) {
		h.writeDeployment(f.deployments[0], 1, provisioning)
		got := h.deploymentSays(f.deployments[0].Name)
		return got == noImage(1), got.Message
	})
}

// allWhileAway has everything written while nobody listens, and the loop find
// it.
func (h *hand) allWhileAway(prefix string, stories []story) []family {
	h.StatusFront.SetOpen(false)
	families := h.each(prefix, stories, func(f family, instances []*computeapi.Instance, st story) {
		h.tellInstances(instances, st)
		h.tellParents(f, st)
	})
	h.atRest(patience)
	return families
}

// answers are what the parents of each story say, and the pure function says so
// too.
func (h *hand) answers(families []family, way string) []map[string]said {
	h.t.Helper()
	assert.Empty(h.t, h.look().wrong(), way)
	var all []map[string]said
	for _, f := range families {
		w, d, p := h.says(f)
		ready := saysOf(get(h.scene, f.deployments[0].Name, &computeapi.WorkloadDeployment{}).Status.Conditions, computeapi.ReplicasReadyCondition)
		all = append(all, map[string]said{"workload": w, "deployment": d, "placement": p, "ReplicasReady": ready})
	}
	return all
}
