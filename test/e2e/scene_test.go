package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// patience bounds every wait in these tests; it is no claim about Causeway.
const patience = 2 * time.Minute

const namespace = "shop"

// scene is one test's world.
type scene struct {
	*environment.Environment
	t   *testing.T
	ctx context.Context
	// customer reads and writes as an ordinary user.
	customer client.WithWatch
}

// noLoop turns the repair loop off.
var noLoop = []string{"--repair-loop=false"}

// start puts a world together that ends with the test. A process that ended by
// itself, or found a data race, fails the test.
func start(t *testing.T, options environment.Options) *scene {
	t.Helper()
	if options.Binary == "" {
		options.Binary = binary
	}
	if options.DeployOverlay == "" {
		options.DeployOverlay = "default"
	}
	// Each wait has its own limit; this one is for a request that hangs.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	e, err := environment.Start(ctx, options)
	require.NoError(t, err)
	s := &scene{Environment: e, t: t, ctx: ctx}
	t.Cleanup(func() {
		require.NoError(t, e.Stop())
		for _, p := range append(e.Sidecars, e.Webhooks...) {
			require.NotContains(t, p.Log(), "DATA RACE", p.Name)
			if t.Failed() {
				t.Logf("log of %s:\n%s", p.Name, tail(p.Log(), 60))
			}
		}
	})
	require.NoError(t, e.CreateNamespace(ctx, namespace))
	s.customer, err = e.Client(environment.Customer)
	require.NoError(t, err)
	return s
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// waitFor fails the test if the state is not reached in time.
func (s *scene) waitFor(what string, reached func() (bool, string)) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	require.NoError(s.t, environment.WaitFor(ctx, what, reached))
}

// active is the process that reviews go to, once there is one: after a change
// the front hears of it a moment later than the parents tell it.
func (s *scene) active() *environment.Process {
	s.t.Helper()
	var active *environment.Process
	s.waitFor("a process to be active", func() (bool, string) {
		active = s.StatusFront.Active()
		return active != nil, "none"
	})
	return active
}

// get reads an object live, as the customer.
func get[T client.Object](s *scene, name string, into T) T {
	s.t.Helper()
	require.NoError(s.t, s.customer.Get(s.ctx, types.NamespacedName{Namespace: namespace, Name: name}, into))
	return into
}

// said is what a condition says, without its times.
type said struct {
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}

func saysOf(conditions []metav1.Condition, conditionType string) said {
	for _, c := range conditions {
		if c.Type == conditionType {
			return said{c.Status, c.Reason, c.Message}
		}
	}
	return said{}
}

// deploymentOf is the one deployment of a Workload's placement.
func (s *scene) deploymentOf(workload, placement string) *computeapi.WorkloadDeployment {
	s.t.Helper()
	var list computeapi.WorkloadDeploymentList
	require.NoError(s.t, s.customer.List(s.ctx, &list, client.InNamespace(namespace)))
	for i := range list.Items {
		d := &list.Items[i]
		if d.Spec.WorkloadRef.Name == workload && d.Spec.PlacementName == placement {
			return d
		}
	}
	return nil
}

// deploymentSays and workloadSays read Available live.
func (s *scene) deploymentSays(name string) said {
	s.t.Helper()
	return saysOf(get(s, name, &computeapi.WorkloadDeployment{}).Status.Conditions, computeapi.AvailableCondition)
}

func (s *scene) workloadSays(name string) said {
	s.t.Helper()
	return saysOf(get(s, name, &computeapi.Workload{}).Status.Conditions, computeapi.AvailableCondition)
}

// provision creates a Workload and waits until the platform has given the
// deployment of its placement "main" that many Instances, all ready, and says
// so.
func (s *scene) provision(w *computeapi.Workload, replicas int32) (deployment string) {
	s.t.Helper()
	require.NoError(s.t, s.customer.Create(s.ctx, w))
	s.waitFor("all Instances of "+w.Name+" to be ready", func() (bool, string) {
		d := s.deploymentOf(w.Name, "main")
		if d == nil {
			return false, "no deployment"
		}
		deployment = d.Name
		available := saysOf(get(s, w.Name, &computeapi.Workload{}).Status.Conditions, computeapi.AvailableCondition)
		return d.Status.ReadyReplicas == replicas && available.Status == metav1.ConditionTrue, available.Message
	})
	return deployment
}

// instance is the key of a deployment's Instance.
func instance(deployment string, ordinal int) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: platform.InstanceName(deployment, ordinal)}
}

// provider has the provider find an Instance in a state, and returns when that
// write has returned.
func (s *scene) provider(key types.NamespacedName, state platform.State) {
	s.t.Helper()
	require.NoError(s.t, s.Platform.Provider.Set(s.ctx, key, state))
}
