package ledger_test

import (
	"cmp"
	"slices"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

var (
	workload   = ledger.Parent{Kind: ledger.KindWorkload, Namespace: "shop", Name: "api", UID: "w1"}
	deployment = ledger.Parent{Kind: ledger.KindDeployment, Namespace: "shop", Name: "api-us", UID: "d1"}

	ready    = rollup.Contribution{Ready: true}
	crashing = rollup.Contribution{Reason: "InstanceCrashing", Message: "it exits"}
)

func instance(ordinal int, version string, c rollup.Contribution) *ledger.Instance {
	name := "api-us-" + strconv.Itoa(ordinal)
	return &ledger.Instance{
		NamespacedName:  types.NamespacedName{Namespace: "shop", Name: name},
		UID:             types.UID("i" + strconv.Itoa(ordinal)),
		ResourceVersion: version,
		Deployment:      deployment,
		Member:          rollup.Member{Ordinal: ordinal, Name: name},
		Contribution:    c,
	}
}

func deploymentVersion(version string) *ledger.Deployment {
	return &ledger.Deployment{Parent: deployment, ResourceVersion: version, Workload: workload, Placement: "us"}
}

// tallyOf is the deployment's tally with its failures in order.
func tallyOf(t testing.TB, l *ledger.Ledger) rollup.Tally {
	t.Helper()
	view, ok := l.Deployment(deployment.UID)
	require.True(t, ok, "the ledger holds the deployment")
	sortFailures(view.Tally.Failures)
	return view.Tally
}

func lackOf(container string) rollup.Lack {
	return rollup.Lack{Class: "web", Container: container, Capabilities: "CHOWN"}
}

func sortFailures(f []rollup.Failure) {
	slices.SortFunc(f, func(a, b rollup.Failure) int { return cmp.Compare(a.Reason, b.Reason) })
}

func TestTallyFollowsWatchAndReviews(t *testing.T) {
	now := time.Unix(1000, 0)
	speaks := rollup.Failure{Reason: "InstanceCrashing", Count: 1, Representative: rollup.Member{Ordinal: 0, Name: "api-us-0"}, Message: "it exits"}
	cases := map[string]struct {
		act  func(*ledger.Ledger)
		want rollup.Tally
	}{
		"a deployment without Instances sums to nothing": {
			act: func(*ledger.Ledger) {}, want: rollup.Tally{},
		},
		"what the watch delivers counts": {
			act:  func(l *ledger.Ledger) { l.ObserveInstance(instance(0, "10", crashing)) },
			want: rollup.Tally{Seen: 1, Counted: 1, Failures: []rollup.Failure{speaks}},
		},
		"an older version than is known changes nothing": {
			act: func(l *ledger.Ledger) {
				l.ObserveInstance(instance(0, "10", ready))
				l.ObserveInstance(instance(0, "9", crashing))
			},
			want: rollup.Tally{Seen: 1, Counted: 1, Ready: 1},
		},
		"a pending contribution stands in for the stored one": {
			act: func(l *ledger.Ledger) {
				l.ObserveInstance(instance(0, "10", ready))
				l.Propose(instance(0, "10", crashing), "10", now)
			},
			want: rollup.Tally{Seen: 1, Counted: 1, Failures: []rollup.Failure{speaks}},
		},
		"a pending contribution counts for an Instance the watch has not delivered": {
			act:  func(l *ledger.Ledger) { l.Propose(instance(0, "10", crashing), "10", now) },
			want: rollup.Tally{Seen: 1, Counted: 1, Failures: []rollup.Failure{speaks}},
		},
		"the version a review was based on does not settle it": {
			act: func(l *ledger.Ledger) {
				l.Propose(instance(0, "10", crashing), "10", now)
				l.ObserveInstance(instance(0, "10", ready))
			},
			want: rollup.Tally{Seen: 1, Counted: 1, Failures: []rollup.Failure{speaks}},
		},
		"any newer version settles it, also one that says something else": {
			act: func(l *ledger.Ledger) {
				l.Propose(instance(0, "10", crashing), "10", now)
				l.ObserveInstance(instance(0, "11", ready))
			},
			want: rollup.Tally{Seen: 1, Counted: 1, Ready: 1},
		},
		"a review of a version that was overtaken is not taken in": {
			act: func(l *ledger.Ledger) {
				l.ObserveInstance(instance(0, "11", ready))
				l.Propose(instance(0, "10", crashing), "10", now)
			},
			want: rollup.Tally{Seen: 1, Counted: 1, Ready: 1},
		},
		"a review that comes twice counts once": {
			act: func(l *ledger.Ledger) {
				l.Propose(instance(0, "10", crashing), "10", now)
				l.Propose(instance(0, "10", crashing), "10", now.Add(time.Second))
			},
			want: rollup.Tally{Seen: 1, Counted: 1, Failures: []rollup.Failure{speaks}},
		},
		"a live read settles a ghost": {
			act: func(l *ledger.Ledger) {
				l.ObserveInstance(instance(0, "10", ready))
				l.Propose(instance(0, "10", crashing), "10", now)
				l.Settle(instance(0, "", ready).NamespacedName, now, instance(0, "10", ready))
			},
			want: rollup.Tally{Seen: 1, Counted: 1, Ready: 1},
		},
		"a live read for an earlier review leaves a later one": {
			act: func(l *ledger.Ledger) {
				l.Propose(instance(0, "10", ready), "10", now)
				l.Propose(instance(0, "11", crashing), "11", now.Add(time.Second))
				l.Settle(instance(0, "", ready).NamespacedName, now, instance(0, "11", ready))
			},
			want: rollup.Tally{Seen: 1, Counted: 1, Failures: []rollup.Failure{speaks}},
		},
		"an Instance that is gone leaves nothing": {
			act: func(l *ledger.Ledger) {
				l.ObserveInstance(instance(0, "10", crashing))
				l.Propose(instance(0, "10", crashing), "10", now)
				l.ForgetInstance(instance(0, "", ready).NamespacedName, "i0")
			},
			want: rollup.Tally{},
		},
		"the deletion of a namesake leaves its successor": {
			act: func(l *ledger.Ledger) {
				l.ObserveInstance(instance(0, "10", crashing))
				l.ForgetInstance(instance(0, "", ready).NamespacedName, "i-before")
			},
			want: rollup.Tally{Seen: 1, Counted: 1, Failures: []rollup.Failure{speaks}},
		},
		"a list drops what it lacks and takes what it has": {
			act: func(l *ledger.Ledger) {
				l.ObserveInstance(instance(0, "10", crashing))
				l.ReplaceInstances([]*ledger.Instance{instance(1, "12", ready)})
			},
			want: rollup.Tally{Seen: 1, Counted: 1, Ready: 1},
		},
		"a list that is older than a review does not undo it": {
			act: func(l *ledger.Ledger) {
				l.ObserveInstance(instance(0, "10", ready))
				l.Propose(instance(0, "10", crashing), "10", now)
				l.ReplaceInstances(nil)
			},
			want: rollup.Tally{Seen: 1, Counted: 1, Failures: []rollup.Failure{speaks}},
		},
		"an Instance being deleted counts only while it is ready": {
			act: func(l *ledger.Ledger) {
				l.ObserveInstance(instance(0, "10", rollup.Contribution{Deleting: true}))
				l.ObserveInstance(instance(1, "11", rollup.Contribution{Deleting: true, Ready: true}))
			},
			want: rollup.Tally{Seen: 2, Counted: 1, Ready: 1},
		},
		"the lowest ordinal speaks, and the next when it recovers": {
			act: func(l *ledger.Ledger) {
				for i := range 12 {
					l.ObserveInstance(instance(i, "10", crashing))
				}
				l.ObserveInstance(instance(0, "11", ready))
				l.ObserveInstance(instance(1, "11", ready))
			},
			want: rollup.Tally{Seen: 12, Counted: 12, Ready: 2, Failures: []rollup.Failure{{
				Reason: "InstanceCrashing", Count: 10, Representative: rollup.Member{Ordinal: 2, Name: "api-us-2"}, Message: "it exits",
			}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := ledger.New(nil)
			l.ObserveDeployment(deploymentVersion("5"))
			tc.act(l)
			if diff := gocmp.Diff(tc.want, tallyOf(t, l)); diff != "" {
				t.Errorf("tally (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInstancesOfANamesakeAreNotCounted(t *testing.T) {
	l := ledger.New(nil)
	former := instance(0, "10", crashing)
	former.Deployment.UID = "d0"
	l.ObserveInstance(former)
	l.ObserveDeployment(deploymentVersion("20"))
	assert.Equal(t, rollup.Tally{}, tallyOf(t, l))
}

func TestNotifiesOfBothParentsOnlyWhenTheRollUpMayChange(t *testing.T) {
	var told []ledger.Parent
	l := ledger.New(func(p ledger.Parent) { told = append(told, p) })
	l.ObserveDeployment(deploymentVersion("5"))

	told = nil
	l.Propose(instance(0, "10", crashing), "10", time.Unix(0, 0))
	assert.Equal(t, []ledger.Parent{deployment, workload}, told, "a review that changes something")

	told = nil
	l.ObserveInstance(instance(0, "11", crashing))
	assert.Empty(t, told, "the watch confirms what was pending")
}

// What containers lack comes from elsewhere than the rest of an Instance, at any
// time, and counts only beside a crash.
func TestLacksCountWhileTheInstanceCrashes(t *testing.T) {
	var told []ledger.Parent
	l := ledger.New(func(p ledger.Parent) { told = append(told, p) })
	l.ObserveDeployment(deploymentVersion("5"))
	one := instance(0, "10", ready)
	l.ObserveLacks(one.NamespacedName, one.UID, []rollup.Lack{lackOf("app")})
	l.ObserveInstance(one)

	told = nil
	l.ObserveLacks(one.NamespacedName, one.UID, []rollup.Lack{lackOf("app")})
	assert.Empty(t, told, "an Instance that is ready lacks nothing that matters")
	assert.Empty(t, tallyOf(t, l).Lacks)

	l.Propose(instance(0, "10", crashing), "10", time.Unix(0, 0))
	assert.Equal(t, []rollup.Lack{lackOf("app")}, tallyOf(t, l).Lacks, "known before the request that tells of the crash")

	told = nil
	l.ObserveLacks(one.NamespacedName, one.UID, []rollup.Lack{lackOf("app")})
	assert.Empty(t, told, "nothing new")
	l.ObserveLacks(one.NamespacedName, one.UID, nil)
	assert.Equal(t, []ledger.Parent{deployment, workload}, told, "the class no longer grants it")
	assert.Empty(t, tallyOf(t, l).Lacks)
	l.ObserveLacks(one.NamespacedName, one.UID, []rollup.Lack{lackOf("app")})

	successor := instance(0, "20", crashing)
	successor.UID = "i0-2"
	l.ReplaceInstances([]*ledger.Instance{successor})
	assert.Empty(t, tallyOf(t, l).Lacks, "what its predecessor lacked")
}

func TestVersionsMetOutsideTheWatchDoNotBringBackTheDead(t *testing.T) {
	l := ledger.New(nil)
	l.ObserveDeployment(deploymentVersion("5"))
	l.RefreshDeployment(deploymentVersion("7"))
	view, _ := l.Deployment(deployment.UID)
	assert.Equal(t, "7", view.ResourceVersion, "an answer to a patch is newer than the watch")

	l.ForgetDeployment(deployment.UID)
	l.RefreshDeployment(deploymentVersion("8"))
	_, ok := l.Deployment(deployment.UID)
	assert.False(t, ok, "the deployment is deleted")
	assert.Equal(t, ledger.Sizes{Workloads: 0}, l.Sizes())
}

func TestNewerComparesVersionsAsNumbers(t *testing.T) {
	cases := map[string]struct {
		a, b string
		want bool
	}{
		"longer is newer":                 {"10", "9", true},
		"equal is not newer":              {"10", "10", false},
		"older is not newer":              {"9", "10", false},
		"anything is newer than none":     {"1", "", true},
		"none is not newer than none":     {"", "", false},
		"what is no version is not newer": {"abc", "1", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, ledger.Newer(tc.a, tc.b)) })
	}
}

// The ledger's running sums equal a sum from scratch over a model, whatever
// comes in what order, and what is deleted leaves nothing behind.
func TestRunningSumsEqualASumFromScratch(t *testing.T) {
	contributions := []rollup.Contribution{
		ready, crashing, {}, {Deleting: true}, {Deleting: true, Ready: true}, {Reason: "ImageUnavailable"},
	}
	rapid.Check(t, func(t *rapid.T) {
		l := ledger.New(nil)
		l.ObserveDeployment(deploymentVersion("1"))
		type model struct {
			seen, pending *ledger.Instance
			lacks         []rollup.Lack
		}
		models := map[int]*model{}
		version := 10
		now := time.Unix(0, 0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			n := rapid.IntRange(0, 4).Draw(t, "instance")
			m := models[n]
			if m == nil {
				m = &model{}
				models[n] = m
			}
			version++
			now = now.Add(time.Second)
			i := instance(n, strconv.Itoa(version), rapid.SampledFrom(contributions).Draw(t, "contribution"))
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				l.ObserveInstance(i)
				m.seen, m.pending = i, nil
			case 1:
				base := strconv.Itoa(version)
				if m.seen != nil {
					base = m.seen.ResourceVersion
				}
				if m.pending != nil && ledger.Newer(m.pending.ResourceVersion, base) {
					continue
				}
				i.ResourceVersion = base
				require.True(t, l.Propose(i, base, now))
				m.pending = i
			case 2:
				l.ForgetInstance(i.NamespacedName, i.UID)
				m.seen, m.pending = nil, nil
			case 4:
				list := rapid.SliceOfNDistinct(rapid.SampledFrom([]rollup.Lack{lackOf("app"), lackOf("log")}), 0, 2, rapid.ID).Draw(t, "lacks")
				l.ObserveLacks(i.NamespacedName, i.UID, list)
				m.lacks = list
				l.ObserveLacks(i.NamespacedName, "of a predecessor", []rollup.Lack{lackOf("gone")})
			case 3:
				since, ok := l.Pending(i.NamespacedName)
				require.Equal(t, m.pending != nil, ok)
				l.Settle(i.NamespacedName, since, m.seen)
				m.pending = nil
			}
			if m.seen == nil && m.pending == nil {
				m.lacks = nil
			}
			var effective []rollup.Instance
			held, pending := 0, 0
			for _, m := range models {
				current := m.pending
				if current == nil {
					current = m.seen
				} else {
					pending++
				}
				if current != nil {
					held++
					effective = append(effective, rollup.Instance{Member: current.Member, Contribution: current.Contribution, Lacks: m.lacks})
				}
			}
			want := rollup.Sum(effective)
			sortFailures(want.Failures)
			view, _ := l.Deployment(deployment.UID)
			sortFailures(view.Tally.Failures)
			anyOrder := cmpopts.SortSlices(func(a, b rollup.Lack) bool { return a.Container < b.Container })
			if diff := gocmp.Diff(want, view.Tally, anyOrder); diff != "" {
				t.Fatalf("tally (-want +got):\n%s", diff)
			}
			require.Equal(t, held, l.Sizes().Instances)
			require.Equal(t, pending, l.Sizes().Pending)
		}
	})
}
