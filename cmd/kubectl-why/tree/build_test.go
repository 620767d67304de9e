package tree_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/cmd/kubectl-why/tree"
)

func available(status metav1.ConditionStatus, reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: "Available", Status: status, Reason: reason, Message: message}}
}

func ready(status metav1.ConditionStatus, reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: "Ready", Status: status, Reason: reason, Message: message}}
}

var (
	fine     = ready("True", "Available", "Instance is ready")
	crashing = ready("False", "InstanceCrashing", "it exits")
	starting = ready("Unknown", "Provisioning", "Instance is provisioning")
)

// world is one Workload "api" with one deployment of these Instances, whose
// statuses say what Causeway would have written.
func world(instances ...[]metav1.Condition) tree.Snapshot {
	s := tree.Snapshot{
		Workloads: []tree.Workload{{
			Namespace: "shop", Name: "api", UID: "w",
			Placements: []tree.Placement{{Name: "us"}},
		}},
		Deployments: []tree.Deployment{{
			Name: "api-us", UID: "d", Workload: "w", Placement: "us", Location: "us",
			Desired: int32(len(instances)), Replicas: int32(len(instances)),
		}},
	}
	for i, c := range instances {
		s.Instances = append(s.Instances, tree.Instance{Name: "api-us-" + strconv.Itoa(i), Deployment: "d", Ordinal: i, Conditions: c})
	}
	// The answers of the roll-up, stored.
	root := tree.Build(s)[0].Workload
	s.Workloads[0].Conditions = stored(root)
	s.Workloads[0].Placements[0].Conditions = stored(root.Children[0])
	s.Deployments[0].Conditions = stored(root.Children[0].Children[0])
	return s
}

func stored(n tree.Node) []metav1.Condition { return available(n.Status, n.Reason, n.Message) }

// A hint rests on Pods, which are not read here: it is no difference.
func TestAHintIsTakenAsItIsStored(t *testing.T) {
	const hint = `Container "app" runs without capabilities that runtime class "web" currently grants by default: CHOWN. ` +
		"If the image needs one, add it to the container's capabilities. This is not evidence that capabilities caused the crash."
	s := world(crashing)
	s.Workloads[0].Conditions[0].Message += " " + hint
	got := tree.Build(s)[0].Workload
	assert.Nil(t, got.Stored)
	assert.Equal(t, "1 of 1 instances is repeatedly exiting and restarting: it exits. "+hint, got.Message)

	s.Instances = append(s.Instances, tree.Instance{Name: "api-us-1", Deployment: "d", Ordinal: 1, Conditions: crashing})
	got = tree.Build(s)[0].Workload
	assert.Equal(t, "2 of 2 instances are repeatedly exiting and restarting: it exits. "+hint, got.Message)
	require.NotNil(t, got.Stored)
	assert.Equal(t, "1 of 1 instances is repeatedly exiting and restarting: it exits. "+hint, got.Stored.Message, "what does differ is told")
}

func TestStates(t *testing.T) {
	cases := map[string]struct {
		snapshot tree.Snapshot
		state    tree.State
		causes   []string
	}{
		"all ready":               {world(fine, fine), tree.Ready, nil},
		"one of them on its way":  {world(fine, starting), tree.Ready, nil},
		"one of them failing":     {world(fine, crashing), tree.PartlyFailing, []string{"InstanceCrashing"}},
		"one of them being moved": {world(fine, ready("False", "Disrupted", "")), tree.Ready, nil},
		"all failing, for reasons of which one is worst": {
			world(ready("False", "PendingQuota", ""), crashing, ready("False", "ImagePullBackOff", "")),
			tree.Failing, []string{"ImageUnavailable", "InstanceCrashing", "QuotaNotGranted"}},
		"all on their way":      {world(starting), tree.Waiting, []string{"InstancesProvisioning"}},
		"waited for, by name":   {world(ready("False", "Unschedulable", "")), tree.Waiting, []string{"Unschedulable"}},
		"a reason nobody knows": {world(ready("False", "FluxCapacitorMissing", "")), tree.Failing, []string{"FluxCapacitorMissing"}},
		"on its way, for a reason nobody knows": {
			world(ready("Unknown", "FluxCapacitorCharging", "")), tree.Waiting, []string{"InstancesProvisioning"}},
		"on purpose": {world(ready("False", "Suspended", "")), tree.Failing, []string{"Suspended"}},
		"no instance at all": {
			tree.Snapshot{Workloads: []tree.Workload{{Name: "api"}}}, tree.Waiting, []string{"InstancesProvisioning"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := tree.Build(tc.snapshot)[0]
			assert.Equal(t, tc.state, e.State)
			var causes []string
			for _, c := range e.Causes {
				causes = append(causes, c.Reason)
				assert.NotEmpty(t, c.Advice)
			}
			assert.Equal(t, tc.causes, causes)
			assert.False(t, e.Differs, "what Causeway would store is no difference")
		})
	}
}

func TestWhatTheControllersSayOfTheirOwnAccord(t *testing.T) {
	s := world(crashing)
	message := `No cell in us serves runtime class "web"`
	s.Deployments[0].Conditions = available("False", "RuntimeClassNotServed", message)
	e := tree.Build(s)[0]
	assert.Equal(t, tree.Said{Status: "False", Reason: "RuntimeClassNotServed", Message: `placement "us": ` + message}, e.Workload.Said)
	assert.Equal(t, "RuntimeClassNotServed", e.Causes[0].Reason)
	d := e.Workload.Children[0].Children[0]
	assert.Nil(t, d.Stored, "a base stands as it is")
	assert.NotNil(t, e.Workload.Stored, "the Workload does not say so yet")
}

func TestADeploymentOfAnotherPlaneCountsByItsStatus(t *testing.T) {
	s := world(fine)
	s.Instances = nil
	s.Deployments[0].Replicas, s.Deployments[0].ReadyReplicas, s.Deployments[0].Desired = 3, 2, 3
	e := tree.Build(s)[0]
	d := e.Workload.Children[0].Children[0]
	assert.True(t, d.Unseen)
	assert.Equal(t, [2]int{2, 3}, [2]int{d.ReadyInstances, d.Instances})
	assert.Equal(t, [2]int{2, 3}, [2]int{e.Workload.ReadyInstances, e.Workload.Instances})
	assert.Equal(t, tree.Ready, e.State)
}

// Without Instances the roll-up would take every deployment for another plane's,
// and put words into the Workload's mouth that it never stored.
func TestWithoutInstancesTheStoredStatusStands(t *testing.T) {
	for _, hide := range []func(*tree.Snapshot){
		func(s *tree.Snapshot) { s.Instances, s.NoInstances = nil, "forbidden" },
		func(s *tree.Snapshot) { s.Deployments, s.NoDeployments = nil, "forbidden" },
	} {
		s := world(crashing, crashing)
		s.Workloads[0].Replicas, s.Workloads[0].Placements[0].Replicas = 2, 2
		want := tree.Build(s)[0]
		hide(&s)
		e := tree.Build(s)[0]
		assert.Equal(t, want.State, e.State)
		assert.Equal(t, want.Causes, e.Causes)
		assert.Equal(t, want.Workload.Said, e.Workload.Said)
		assert.Equal(t, 2, e.Workload.Instances)
		assert.False(t, e.Differs)
		assert.Len(t, e.NotRead, 1)
	}
}

func TestWhatIsBeingDeletedIsNotCompared(t *testing.T) {
	s := world(crashing)
	s.Workloads[0].Conditions = available("True", "AvailablePlacementFound", "")
	s.Workloads[0].Deleting = true
	assert.False(t, tree.Build(s)[0].Differs)
}

func TestAStatusThatWasNeverWrittenIsOneOnlyOnceSomethingFails(t *testing.T) {
	s := world(starting)
	s.Workloads[0].Conditions, s.Workloads[0].Placements, s.Deployments[0].Conditions = nil, nil, nil
	assert.False(t, tree.Build(s)[0].Differs)
	s.Instances[0].Conditions = crashing
	assert.Equal(t, &tree.Said{Status: "Unknown"}, tree.Build(s)[0].Workload.Stored)
}

func TestOrderComesFromWhatIsSaidAlone(t *testing.T) {
	s := world(fine, crashing, starting, ready("False", "ImageUnavailable", ""), fine, crashing)
	other := world(fine)
	other.Workloads[0].UID, other.Workloads[0].Name = "v", "docs"
	other.Deployments[0].UID, other.Deployments[0].Workload = "e", "v"
	other.Instances[0].Deployment = "e"
	s.Workloads = append(s.Workloads, other.Workloads...)
	s.Deployments = append(s.Deployments, other.Deployments...)
	s.Instances = append(s.Instances, other.Instances...)
	want := tree.Build(s)
	for range 20 {
		rand.Shuffle(len(s.Workloads), func(i, j int) { s.Workloads[i], s.Workloads[j] = s.Workloads[j], s.Workloads[i] })
		rand.Shuffle(len(s.Deployments), func(i, j int) { s.Deployments[i], s.Deployments[j] = s.Deployments[j], s.Deployments[i] })
		rand.Shuffle(len(s.Instances), func(i, j int) { s.Instances[i], s.Instances[j] = s.Instances[j], s.Instances[i] })
		if diff := cmp.Diff(want, tree.Build(s), cmpopts.IgnoreUnexported(tree.Node{})); diff != "" {
			t.Fatalf("shuffled (-want +got):\n%s", diff)
		}
	}
	var names []string
	for _, n := range want[0].Workload.Children[0].Children[0].Children {
		names = append(names, n.Name)
	}
	require.Equal(t, []string{"api-us-3", "api-us-1", "api-us-5", "api-us-2", "api-us-0", "api-us-4"}, names, "the cause first")
}
