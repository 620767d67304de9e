package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// What `kubectl why` prints in each situation, by the built plugin on a real API
// server: first of the platform alone, then with Causeway beside it.
func TestWhy(t *testing.T) {
	s := newWhyScene(start(t, environment.Options{
		Without:  []string{environment.Refusal, environment.Status, environment.Overlay},
		Platform: &platform.Options{Parallel: true, Flavour: platform.Unikraft},
	}))
	s.allowHalfBlind()
	deployment := s.provision(computeapi.NewWorkload(namespace, "api", computeapi.WithPlacement("main", 3, "us")), 3)
	// plain leaves out what depends on the run (a deployment's name) and on the
	// authorizer of this API server.
	plain := func(text string) string {
		return strings.NewReplacer(deployment, "api-0123456789", ": abac: No policy matched", "").Replace(text)
	}
	expect := func(want string, code int, user string, args ...string) {
		t.Helper()
		stdout, stderr, got := s.why(user, args...)
		assert.Empty(t, stderr)
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), plain(stdout)); diff != "" {
			t.Errorf("kubectl why %s (-want +got):\n%s", strings.Join(args, " "), diff)
		}
		assert.Equal(t, code, got, "exit code")
	}

	expect(whyReady, 0, environment.Customer, "api", "-n", namespace)

	// The platform alone never says why.
	watching := s.watch("api", "-n", namespace)
	s.waitFor("--watch to begin", func() (bool, string) {
		return plain(watching.String()) == strings.TrimPrefix(whyReady, "\n"), watching.String()
	})
	for i := range 3 {
		s.provider(instance(deployment, i), platform.CrashLoop)
	}
	s.waitFor("the platform to count no ready Instance", func() (bool, string) {
		w := s.workloadSays("api")
		return w.Status == metav1.ConditionFalse && s.deploymentSays(deployment).Status == metav1.ConditionFalse, w.Message
	})
	expect(whyLie, 1, environment.Customer, "workload/api", "-n", namespace)
	expect(whyHalfBlind, 1, halfBlind, "api", "-n", namespace)
	s.waitFor("--watch to tell", func() (bool, string) {
		text := plain(watching.String())
		return strings.HasPrefix(text, strings.TrimPrefix(whyReady, "\n")) && strings.HasSuffix(text, " ---\n"+whyLie), text
	})
	assert.Equal(t, 1, watching.interrupt(), "exit code of --watch: that of the last answer")

	// With Causeway the stored answer is the same, word for word.
	require.NoError(t, s.InstallLeftOut(s.ctx))
	_, err := s.StartSidecar(s.ctx)
	require.NoError(t, err)
	require.NoError(t, s.WaitActive(s.ctx))
	s.waitFor("Causeway to repair the Workload", func() (bool, string) {
		w := s.workloadSays("api")
		return w.Reason == "InstanceCrashing" && s.deploymentSays(deployment).Reason == "InstanceCrashing", w.Message
	})
	expect(whyTruth, 1, environment.Customer, "workloads", "api", "-n", namespace)
	testWhyDocument(t, s)

	s.provider(instance(deployment, 0), platform.Running)
	s.waitFor("the platform to make the first one Ready", s.isReady(deployment, 0))
	expect(whyPartly, 1, environment.Customer, "api", "-n", namespace)

	testWhyOfSeveral(t, s)
	testWhyTrouble(t, s)

	for i := 1; i < 3; i++ {
		s.provider(instance(deployment, i), platform.Running)
		s.waitFor("the platform to make the others Ready", s.isReady(deployment, i))
	}
	expect(whyReady, 0, environment.Customer, "api", "-n", namespace)
}

// isReady also waits until no status of the parents is behind.
func (s *scene) isReady(deployment string, ordinal int) func() (bool, string) {
	return func() (bool, string) {
		i := get(s, instance(deployment, ordinal).Name, &computeapi.Instance{})
		ready := saysOf(i.Status.Conditions, computeapi.ReadyCondition)
		return ready.Status == metav1.ConditionTrue && s.workloadSays("api").Status == metav1.ConditionTrue, ready.Reason
	}
}

// testWhyDocument reads the answer as a script does. It is the stored one.
func testWhyDocument(t *testing.T, s *whyScene) {
	stdout, _, code := s.why(environment.Customer, "api", "-n", namespace, "-o", "json")
	assert.Equal(t, 1, code)
	var doc struct {
		Items []struct {
			State    string
			Differs  bool
			Causes   []struct{ Reason, Advice string }
			Workload struct{ Status, Reason, Message string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &doc))
	require.Len(t, doc.Items, 1)
	stored := s.workloadSays("api")
	item := doc.Items[0]
	assert.Equal(t, stored, said{metav1.ConditionStatus(item.Workload.Status), item.Workload.Reason, item.Workload.Message})
	assert.Equal(t, "Failing", item.State)
	assert.Equal(t, "InstanceCrashing", item.Causes[0].Reason)
	assert.False(t, item.Differs)
}

// testWhyOfSeveral has a second Workload, in another namespace.
func testWhyOfSeveral(t *testing.T, s *whyScene) {
	require.NoError(t, s.CreateNamespace(s.ctx, "garden"))
	require.NoError(t, s.customer.Create(s.ctx, computeapi.NewWorkload("garden", "rose")))
	s.waitFor("the second Workload to be ready", func() (bool, string) {
		var w computeapi.Workload
		require.NoError(t, s.customer.Get(s.ctx, client.ObjectKey{Namespace: "garden", Name: "rose"}, &w))
		said := saysOf(w.Status.Conditions, computeapi.AvailableCondition)
		// Its Instance's own write is stored a moment after the Workload tells it.
		var instances computeapi.InstanceList
		require.NoError(t, s.customer.List(s.ctx, &instances, client.InNamespace("garden")))
		ready := len(instances.Items) == 1 && saysOf(instances.Items[0].Status.Conditions, computeapi.ReadyCondition).Status == metav1.ConditionTrue
		return ready && said.Status == metav1.ConditionTrue, said.Message
	})
	stdout, _, code := s.why(environment.Customer, "-A")
	assert.Equal(t, 1, code)
	assert.True(t, strings.HasPrefix(stdout, "Workload shop/api is available, but partly failing: 1 of 3 instances ready.\n"), stdout)
	assert.True(t, strings.HasSuffix(stdout, `
Workload garden/rose is available: 1 of 1 instances ready.

2 workloads: 1 partly failing, 1 ready.
`), stdout)
	_, _, code = s.why(environment.Customer, "-n", "garden")
	assert.Equal(t, 0, code)
}

func testWhyTrouble(t *testing.T, s *whyScene) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"web", "-n", namespace}, `error: workloads.compute.datumapis.com "web" not found`},
		{[]string{"pod/api"}, `error: "pod/api": workloads are explained, and nothing of kind "pod"; to see all of a workload, give its name`},
		{[]string{"--server=https://127.0.0.1:1", "api"}, "error: reading workloads: "},
	} {
		stdout, stderr, code := s.why(environment.Customer, tc.args...)
		assert.Equal(t, 2, code, tc.want)
		assert.Empty(t, stdout)
		assert.True(t, strings.HasPrefix(stderr, tc.want), "%q, want %q", stderr, tc.want)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
	stdout, _, code := s.why(environment.Customer, "__complete", "-n", namespace, "a")
	assert.Equal(t, 0, code)
	assert.Equal(t, "api\n:4\n", stdout)
}
