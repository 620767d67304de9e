package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// row is a state of the world in which a Workload with one placement finds
// itself, and what it and its deployment then say, to the letter.
type row struct {
	name     string
	replicas int32
	tweaks   []computeapi.WorkloadTweak
	// before is called when the deployment's name is known and nothing is made of
	// it yet, after when its Instances exist.
	before, after func(s *scene, deployment types.NamespacedName)
	// states are what the provider finds of the Instances, by ordinal.
	states []platform.State

	deployment, workload said
	// key is that of the deployment.
	key types.NamespacedName
	// replicasReady and placement are compared where they are set.
	replicasReady, placement said
}

// down is False on both parents alike.
func down(reason, message string) (said, said) {
	v := said{metav1.ConditionFalse, reason, message}
	return v, v
}

// based is a deployment's base: as it stands there, by placement in the Workload.
func based(v platform.Verdict) (said, said) {
	return said(v), said{v.Status, v.Reason, `placement "main": ` + v.Message}
}

func at(states ...platform.State) []platform.State { return states }

func first(deployment types.NamespacedName) types.NamespacedName { return instance(deployment.Name, 0) }

// Every row of the rank table that the platform can bring about, through its own
// writers. All Workloads live at once, so that they would also disturb each
// other if they could.
func TestEveryRowOfTheRankTable(t *testing.T) {
	s := start(t, environment.Options{
		Statuspatch: 1,
		Platform:    &platform.Options{Parallel: true, Networking: true},
	})
	require.NoError(t, s.Platform.SetMissingNetworks(s.ctx, "lost"))
	s.Platform.Deployment.Pause()
	rows := rankRows()
	for i := range rows {
		r := &rows[i]
		r.replicas = max(r.replicas, int32(len(r.states)), 1)
		tweaks := r.tweaks
		w := computeapi.NewWorkload(namespace, fmt.Sprintf("row-%d", i), tweaks...)
		w.Spec.Placements[0].ScaleSettings.MinReplicas = r.replicas
		require.NoError(t, s.customer.Create(s.ctx, w))
		r.key = types.NamespacedName{Namespace: namespace, Name: platform.DeploymentName(w.Name, w.UID, "main", "us")}
		if r.before != nil {
			r.before(s, r.key)
		}
	}
	s.Platform.Deployment.Resume()
	s.waitFor("all Instances", func() (bool, string) {
		now := s.look()
		for i := range rows {
			r := &rows[i]
			if r.states == nil && r.after == nil {
				continue
			}
			// The deployment may not be there yet either.
			seen := 0
			for j := range now.deployments {
				if d := &now.deployments[j]; d.Name == r.key.Name {
					seen = now.tally(d.UID).Seen
				}
			}
			if seen != int(r.replicas) {
				return false, fmt.Sprint(r.name, ": ", seen)
			}
		}
		return true, ""
	})
	for i := range rows {
		r := &rows[i]
		for ordinal, state := range r.states {
			s.finds(instance(r.key.Name, ordinal), state)
		}
		if r.after != nil {
			r.after(s, r.key)
		}
	}
	s.atRest(patience)
	for i := range rows {
		r := &rows[i]
		s.in(r.name, func(s *scene) {
			w := get(s, fmt.Sprintf("row-%d", i), &computeapi.Workload{})
			assert.Equal(s.t, r.workload, saysOf(w.Status.Conditions, computeapi.AvailableCondition), "workload")
			if r.placement != (said{}) {
				assert.Equal(s.t, r.placement, saysOf(w.Status.Placements[0].Conditions, computeapi.AvailableCondition), "placement")
			}
			if r.deployment == (said{}) {
				return
			}
			d := get(s, r.key.Name, &computeapi.WorkloadDeployment{})
			assert.Equal(s.t, r.deployment, saysOf(d.Status.Conditions, computeapi.AvailableCondition), "deployment")
			if r.replicasReady != (said{}) {
				assert.Equal(s.t, r.replicasReady, saysOf(d.Status.Conditions, computeapi.ReplicasReadyCondition), "ReplicasReady")
			}
		})
	}
	s.in("carried from another plane", testCarried)
	s.in("the way out of each", func(s *scene) { testRecovery(s, rows) })
}

// finds has the provider find an Instance in a state, which it writes as soon as
// it may.
func (s *scene) finds(key types.NamespacedName, state platform.State) {
	s.t.Helper()
	if err := s.Platform.Provider.Set(s.ctx, key, state); !errors.Is(err, platform.ErrNotRunnable) {
		require.NoError(s.t, err)
	}
}

func rankRows() []row {
	var rows []row
	add := func(name string, deployment, workload said, r row) {
		r.name, r.deployment, r.workload = name, deployment, workload
		rows = append(rows, r)
	}
	data := []computeapi.WorkloadTweak{computeapi.WithConfigMap("app-config")}
	missing := platform.DataMissing.Message

	// Rank 8.
	notServed := platform.Verdict{Status: metav1.ConditionFalse, Reason: "RuntimeClassNotServed",
		Message: `No cell in us serves runtime class "unikernel", so it has nowhere to run`}
	d, w := based(notServed)
	add("no cell serves the class", d, w, row{
		tweaks: []computeapi.WorkloadTweak{computeapi.WithClass("unikernel")},
		before: func(s *scene, d types.NamespacedName) {
			require.NoError(s.t, s.Platform.SetUnserved(s.ctx, d, true))
		},
	})
	d, w = based(platform.LocationMismatch)
	add("the location is another, and the Instances crash", d, w, row{
		states: at(crashes, crashes),
		after: func(s *scene, d types.NamespacedName) {
			require.NoError(s.t, s.Platform.SetLocationError(s.ctx, d, platform.LocationMismatch))
		},
	})
	d, w = based(platform.AmbiguousServingLocation)
	add("the location is ambiguous, and there are no Instances", d, w, row{
		before: func(s *scene, d types.NamespacedName) {
			require.NoError(s.t, s.Platform.SetLocationError(s.ctx, d, platform.AmbiguousServingLocation))
		},
	})
	lost, _ := down("NetworkNotFound", "Unable to find networks: lost")
	add("the network does not exist", said{}, lost, row{tweaks: []computeapi.WorkloadTweak{computeapi.WithNetwork("lost")}})
	nowhere, _ := down("NoMatchingLocations", `Placement "main" matches no location that is Ready and offers compute`)
	nowhereP, _ := down("NoMatchingLocations", "No location that is Ready and offers compute matches this placement, so it has nowhere to run")
	add("no location matches", said{}, nowhere, row{
		tweaks: []computeapi.WorkloadTweak{computeapi.WithPlacement("main", 1, "mars")}, placement: nowhereP,
	})
	d, w = down("NetworkFailedToCreate", `1 of 1 instances has no network: Interface "eth0": NoAddress: the pool is empty.`)
	add("the network cannot be made", d, w, row{
		before: func(s *scene, d types.NamespacedName) {
			require.NoError(s.t, s.Platform.SetNetwork(s.ctx, first(d), platform.NetworkFailed("eth0", "NoAddress", "the pool is empty")))
		},
	})
	d, w = down("SourceNotFound", "1 of 1 instances cannot read data it refers to: "+missing+".")
	add("data does not exist, as the Instance says", d, w, row{tweaks: data, before: withData(platform.DataMissing)})
	d, w = based(platform.DataMissing)
	add("data does not exist, as the resolver says", d, w, row{
		tweaks: data,
		before: withData(platform.DataMissing),
		after: func(s *scene, d types.NamespacedName) {
			require.NoError(s.t, s.Platform.DataResolver.Annotate(s.ctx, d, platform.DataMissing))
			s.wakePlatform() // an annotation wakes nobody
		},
	})

	// Rank 7.
	d, w = down("ConfigurationError", "1 of 1 instances cannot start as configured: The instance declares no containers to run, so the instance cannot start.")
	add("refused by the provider", d, w, row{states: at(platform.ConfigError)})
	d, w = down("ConfigurationError", "2 of 2 instances cannot start as configured.")
	add("the container cannot be created", d, w, row{states: at(platform.ContainerConfigError, platform.ContainerConfigError)})
	d, w = down("ImageUnavailable", "3 of 3 instances could not pull their image.")
	add("no image, reported as Unknown", d, w, row{states: at(platform.ImageUnavailable, platform.ImageUnavailable, platform.ImageUnavailable)})
	d, w = down("ImageUnavailable", `1 of 1 instances could not pull its image: Image "registry.example/app:1" for container "app" could not be pulled anonymously.`)
	add("no image, reported as False", d, w, row{states: at(platform.ImageUnavailable.By(platform.Unikraft))})
	d, w = down("InstanceCrashing", "1 of 1 instances is repeatedly exiting and restarting.")
	add("crashing, without a detail", d, w, row{states: at(platform.CrashLoop)})
	add("a failed Pod", d, w, row{states: at(platform.PodFailed)})
	d, w = down("InstanceCrashing", `1 of 1 instances is repeatedly exiting and restarting: Container "app" keeps exiting (last exit code 137); restarting.`)
	add("out of memory", d, w, row{states: at(platform.OOMKilled.By(platform.Unikraft))})
	long := `container "app" has exited and restarted 3 times without staying up for 5 minutes. Its last exit was with code 1.`
	d, w = down("InstanceCrashing", "1 of 1 instances is repeatedly exiting and restarting: "+long)
	add("crashing, with a detail", d, w, row{states: at(crashes.WithMessage(long))})
	d, w = down("Failed", "1 of 1 instances has failed.")
	add("failed, by an older provider", d, w, row{states: at(platform.PodFailed.By(platform.UnikraftOlder))})

	// Ranks 6 to 1.
	d, w = down("Evicted", "1 of 1 instances is not running (Evicted): the node is gone.")
	evicted := platform.Verdict{Status: metav1.ConditionFalse, Reason: "Evicted", Message: "the node is gone"}
	add("a failure nobody knows", d, w, row{states: at(platform.Conditions(evicted, evicted))})
	d, w = down("Suspended", "2 of 2 instances are suspended.")
	add("suspended", d, w, row{replicas: 2, after: func(s *scene, d types.NamespacedName) {
		o := get(s, d.Name, &computeapi.WorkloadDeployment{})
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"true"}}}`, computeapi.SuspendedAnnotation)
		require.NoError(s.t, s.customer.Patch(s.ctx, o, client.RawPatch(types.MergePatchType, patch)))
	}})
	d, w = down("Stopped", "1 of 1 instances has stopped.")
	add("stopped", d, w, row{states: at(platform.Stopped)})
	add("stopping, by an older provider", d, w, row{states: at(platform.Stopped.By(platform.UnikraftOlder))})
	d, w = down("QuotaNotGranted", "1 of 1 instances is waiting for quota.")
	quotaReady := said{metav1.ConditionFalse, "QuotaExceeded", "1 of 1 desired replicas are pending quota"}
	add("quota exceeded", d, w, row{before: withQuota(platform.QuotaExceeded), replicasReady: quotaReady})
	d, w = down("QuotaNotGranted", "1 of 1 instances is waiting for quota: ResourceClaim is pending: no AllowanceBucket configured for this project.")
	add("no quota budget", d, w, row{before: withQuota(platform.QuotaNoBudget), replicasReady: quotaReady})
	d, w = based(platform.Verdict{Status: metav1.ConditionFalse, Reason: "ReferencedDataNotReady",
		Message: "1 of 1 desired instances waiting for companion propagation"})
	add("data on its way", d, w, row{tweaks: data, before: withData(platform.DataAwaiting),
		replicasReady: said{metav1.ConditionFalse, "AwaitingPropagation", "1 of 1 desired replicas are waiting for referenced data companions"}})
	d, w = down("Resolving", "1 of 1 instances is waiting for data: Resolving referenced data.")
	add("data being resolved", d, w, row{tweaks: data, before: withData(platform.DataResolving)})
	d, w = based(platform.Verdict{Status: metav1.ConditionFalse, Reason: "NetworkProvisioning", Message: "Network is being provisioned"})
	add("the network is being made", d, w, row{before: func(s *scene, d types.NamespacedName) {
		require.NoError(s.t, s.Platform.SetNetwork(s.ctx, first(d), platform.NetworkPending))
	}})
	d, w = based(platform.NoMatchingLocation)
	add("the cell does not know its location", d, w, row{states: at(platform.Provisioning), after: func(s *scene, d types.NamespacedName) {
		require.NoError(s.t, s.Platform.SetLocationError(s.ctx, d, platform.NoMatchingLocation))
	}})
	waits := platform.Verdict{Status: metav1.ConditionUnknown, Reason: "Unschedulable", Message: "no node has room"}
	d, w = down("Unschedulable", "1 of 1 instances cannot be scheduled yet: no node has room.")
	add("cannot be scheduled", d, w, row{states: at(platform.Conditions(waits, waits))})
	d, w = down("InstancesProvisioning", "Instances are being provisioned")
	add("on its way", d, w, row{states: at(platform.Provisioning),
		replicasReady: said{metav1.ConditionFalse, "InstancesProvisioning", "0/1 replicas available"},
		placement:     noDeployment})

	// Several at once.
	d, w = down("ConfigurationError", "1 of 5 instances cannot start as configured: The instance declares no containers to run, so the instance cannot start. "+
		"1 of 5 instances could not pull its image. 2 of 5 instances are repeatedly exiting and restarting. 1 of 5 instances has stopped.")
	add("everything at once", d, w, row{states: at(platform.Stopped, crashes, platform.ConfigError, platform.ImageUnavailable, crashes)})
	add("everything at once, and one is ready",
		said{metav1.ConditionTrue, "StableInstanceFound", "1/4 instances are ready; 1 could not pull its image; 1 is repeatedly exiting and restarting; 1 has stopped"},
		said{metav1.ConditionTrue, "AvailablePlacementFound", `At least one available placement was found; placement "main": 1 of 4 instances could not pull its image.`},
		row{states: at(platform.Stopped, crashes, platform.Running, platform.ImageUnavailable),
			replicasReady: said{metav1.ConditionFalse, "ImageUnavailable", "1/4 replicas available"}})
	add("all well",
		said{metav1.ConditionTrue, "StableInstanceFound", "2/2 instances are ready"},
		said{metav1.ConditionTrue, "AvailablePlacementFound", "At least one available placement was found"},
		row{replicas: 2, states: at(platform.Running, platform.Running),
			replicasReady: said{metav1.ConditionTrue, "ReplicasAvailable", "2/2 replicas available"},
			placement:     said{metav1.ConditionTrue, "AvailableDeploymentFound", "At least one available deployment was found"}})
	return rows
}

func withQuota(v platform.Verdict) func(*scene, types.NamespacedName) {
	return func(s *scene, d types.NamespacedName) { require.NoError(s.t, s.Platform.SetQuota(s.ctx, first(d), v)) }
}

func withData(v platform.Verdict) func(*scene, types.NamespacedName) {
	return func(s *scene, d types.NamespacedName) {
		require.NoError(s.t, s.Platform.SetReferencedData(s.ctx, first(d), v))
	}
}

// A deployment whose Instances live in a cell: its status comes from there
// whole, nothing is written on it, and its Workload tells it.
func testCarried(s *scene) {
	s.Platform.Deployment.Pause()
	defer s.Platform.Deployment.Resume()
	w := computeapi.NewWorkload(namespace, "carried", computeapi.WithPlacement("main", 3, "us"))
	require.NoError(s.t, s.customer.Create(s.ctx, w))
	key := types.NamespacedName{Namespace: namespace, Name: platform.DeploymentName(w.Name, w.UID, "main", "us")}
	s.waitFor("the deployment", func() (bool, string) {
		return s.customer.Get(s.ctx, key, &computeapi.WorkloadDeployment{}) == nil, "not there"
	})
	says := func(replicas, ready int32, v said, workload said) {
		s.t.Helper()
		status := computeapi.WorkloadDeploymentStatus{Replicas: replicas, ReadyReplicas: ready, DesiredReplicas: 3,
			Conditions: []metav1.Condition{available(v),
				condition(computeapi.ReplicasReadyCondition, metav1.ConditionTrue, "ReplicasAvailable", "as the cell says")}}
		require.NoError(s.t, s.Platform.StatusSyncer.Deployment(s.ctx, key, status))
		s.waitFor("the Workload to tell it", func() (bool, string) {
			got := s.workloadSays("carried")
			return got == workload, fmt.Sprint(got)
		})
		s.atRest(patience)
		require.Equal(s.t, workload, s.workloadSays("carried"))
		d := get(s, key.Name, &computeapi.WorkloadDeployment{})
		assert.Equal(s.t, v, saysOf(d.Status.Conditions, computeapi.AvailableCondition), "nothing is written on it")
		assert.Equal(s.t, "as the cell says", saysOf(d.Status.Conditions, computeapi.ReplicasReadyCondition).Message)
	}
	cell, _ := down("InstanceCrashing", "3 of 3 instances are repeatedly exiting and restarting: "+crashDetail+".")
	says(3, 0, cell, said{cell.Status, cell.Reason, `placement "main": ` + cell.Message})
	up := said{metav1.ConditionTrue, "StableInstanceFound", "2/3 instances are ready; 1 is repeatedly exiting and restarting"}
	says(3, 2, up, said{metav1.ConditionTrue, "AvailablePlacementFound", "At least one available placement was found"})
	foreign, _ := down("RuntimeClassNotServed", "no cell serves it")
	says(0, 0, foreign, said{foreign.Status, foreign.Reason, `placement "main": no cell serves it`})
}

// What was wrong with every row is put right, and every one comes up, each from
// its own reason.
func testRecovery(s *scene, rows []row) {
	// The platform makes Instances of what was carried, and takes them away again:
	// none of them may be there when all that are left are found running.
	require.NoError(s.t, s.customer.Delete(s.ctx, get(s, "carried", &computeapi.Workload{})))
	s.waitFor("the carried Workload to leave nothing behind", func() (bool, string) {
		for _, o := range s.look().objects() {
			if strings.HasPrefix(o.GetName(), "carried") {
				return false, o.GetName()
			}
		}
		return true, ""
	})
	require.NoError(s.t, s.Platform.SetMissingNetworks(s.ctx))
	require.NoError(s.t, s.Platform.SetLocations(s.ctx, platform.NamedLocations("us", "eu", "mars")...))
	for _, r := range rows {
		if r.before != nil || r.after != nil {
			s.putRight(r.key)
		}
	}
	for _, i := range s.look().instances {
		// One that the platform has taken away since need not run.
		err := s.Platform.Provider.Set(s.ctx, client.ObjectKeyFromObject(&i), platform.Running)
		if !errors.Is(err, platform.ErrNotRunnable) {
			require.NoError(s.t, client.IgnoreNotFound(err))
		}
	}
	// An annotation wakes nobody.
	require.NoError(s.t, s.Platform.SetLocationError(s.ctx, instance("nobody", 0), platform.Verdict{}))
	s.waitFor("every Workload to be available", func() (bool, string) {
		for _, w := range s.look().workloads {
			if got := saysOf(w.Status.Conditions, computeapi.AvailableCondition); got.Message != "At least one available placement was found" {
				return false, w.Name + ": " + got.Message
			}
		}
		return true, ""
	})
	s.atRest(patience)
}

// putRight takes back whatever a row has set.
func (s *scene) putRight(key types.NamespacedName) {
	s.t.Helper()
	d := get(s, key.Name, &computeapi.WorkloadDeployment{})
	require.NoError(s.t, errors.Join(
		s.Platform.SetUnserved(s.ctx, key, false),
		s.Platform.SetLocationError(s.ctx, key, platform.Verdict{}),
		s.Platform.SetNetwork(s.ctx, first(key), ""),
		s.Platform.SetQuota(s.ctx, first(key), platform.Verdict{}),
		s.Platform.SetReferencedData(s.ctx, first(key), platform.Verdict{}),
		s.Platform.DataResolver.Annotate(s.ctx, key, platform.Verdict{}),
		s.customer.Patch(s.ctx, d, client.RawPatch(types.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, computeapi.SuspendedAnnotation))),
	))
}
