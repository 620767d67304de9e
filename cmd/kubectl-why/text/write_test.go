package text_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/cmd/kubectl-why/text"
	"github.com/causeway-webhook/causeway/cmd/kubectl-why/tree"
)

func say(conditionType string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: message}
}

// failing and serving are an Instance's conditions.
func failing(reason, message string) []metav1.Condition {
	return []metav1.Condition{say("Ready", "False", reason, message)}
}

func serving() []metav1.Condition {
	return []metav1.Condition{say("Ready", "True", "Available", "Instance is ready")}
}

func waiting() []metav1.Condition {
	return []metav1.Condition{say("Ready", "Unknown", "Provisioning", "Instance is provisioning")}
}

const crash = `Container "app" keeps exiting (last exit code 1); restarting`

// scene makes a snapshot bit by bit.
type scene struct{ tree.Snapshot }

// workload adds a Workload and what its status says.
func (s *scene) workload(name string, status metav1.ConditionStatus, reason, message string) {
	s.Workloads = append(s.Workloads, tree.Workload{
		Namespace: "shop", Name: name, UID: types.UID(name),
		Conditions: []metav1.Condition{say("Available", status, reason, message)},
	})
}

// deployment adds a deployment of a placement of the latest Workload, with these
// Instances, and says of it and of its placement what a status says.
func (s *scene) deployment(placement, location string, own, above metav1.Condition, instances ...[]metav1.Condition) {
	w := &s.Workloads[len(s.Workloads)-1]
	w.Placements = append(w.Placements, tree.Placement{Name: placement, Conditions: []metav1.Condition{above}})
	d := tree.Deployment{
		Name: w.Name + "-" + placement + "0c2e1b", UID: types.UID(w.Name + placement), Workload: w.UID,
		Placement: placement, Location: location,
		Desired: int32(len(instances)), Replicas: int32(len(instances)),
		Conditions: []metav1.Condition{own},
	}
	for i, c := range instances {
		s.Instances = append(s.Instances, tree.Instance{
			Name: d.Name + "-" + strconv.Itoa(i), Deployment: d.UID, Ordinal: i, Conditions: c,
		})
	}
	s.Deployments = append(s.Deployments, d)
}

func available(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return say("Available", status, reason, message)
}

var (
	stableThree = available("True", "StableInstanceFound", "3/3 instances are ready")
	placementUp = available("True", "AvailableDeploymentFound", "At least one available deployment was found")
)

const workloadUp = "At least one available placement was found"

func serves(s *scene, name string) {
	s.workload(name, "True", "AvailablePlacementFound", workloadUp)
	s.deployment("us", "us", stableThree, placementUp, serving(), serving(), serving())
}

// lie is what the platform says of three crashing Instances, truth what Causeway
// does.
func lie(s *scene) {
	s.workload("api", "False", "InstancesProvisioning", "Instances are being provisioned")
	s.deployment("us", "us", available("False", "InstancesProvisioning", "Instances are being provisioned"),
		available("False", "NoAvailableDeployments", "No available deployments were found for the placement"),
		failing("InstanceCrashing", crash), failing("InstanceCrashing", crash), failing("InstanceCrashing", crash))
}

func truth(s *scene) {
	sentence := "3 of 3 instances are repeatedly exiting and restarting: " + crash + "."
	c := available("False", "InstanceCrashing", sentence)
	s.workload("api", "False", "InstanceCrashing", sentence)
	s.deployment("us", "us", c, c,
		failing("InstanceCrashing", crash), failing("InstanceCrashing", crash), failing("InstanceCrashing", crash))
}

func partly(s *scene) {
	s.workload("web", "True", "AvailablePlacementFound", workloadUp+
		`; placement "eu" is not available: 1 of 1 instances could not pull its image; placement "us": 1 of 3 instances is repeatedly exiting and restarting.`)
	s.deployment("us", "us", available("True", "StableInstanceFound", "1/3 instances are ready; 1 is repeatedly exiting and restarting"),
		available("True", "AvailableDeploymentFound", "At least one available deployment was found; 1 of 3 instances is repeatedly exiting and restarting."),
		serving(), failing("InstanceCrashing", crash), waiting())
	image := available("False", "ImageUnavailable", "1 of 1 instances could not pull its image.")
	s.deployment("eu", "eu", image, image, failing("ImageUnavailable", "The instance image could not be pulled"))
}

func TestWrite(t *testing.T) {
	cases := map[string]struct {
		build   func(*scene)
		options text.Options
		want    string
	}{
		"all fail for one reason": {
			build: truth, options: text.Options{Width: 80},
			want: `
Workload shop/api is not available: 0 of 3 instances ready.

3 of 3 instances are repeatedly exiting and restarting: Container "app" keeps
exiting (last exit code 1); restarting.

What to do
  InstanceCrashing: Find out why the process exits: see its logs and the exit
    code (137: killed, often for want of memory), and check its command,
    environment and capabilities.

Workload api                   0/3  InstanceCrashing
└─ placement us                0/3  InstanceCrashing
   └─ deployment api-us0c2e1b  0/3  InstanceCrashing  at us
      └─ api-us0c2e1b-0             InstanceCrashing  2 more like this
           Container "app" keeps exiting (last exit code 1); restarting
`,
		},
		"a status that lies": {
			build: lie, options: text.Options{Width: 80},
			want: `
Workload shop/api is not available: 0 of 3 instances ready.

3 of 3 instances are repeatedly exiting and restarting: Container "app" keeps
exiting (last exit code 1); restarting.

What to do
  InstanceCrashing: Find out why the process exits: see its logs and the exit
    code (137: killed, often for want of memory), and check its command,
    environment and capabilities.

Workload api                   0/3  InstanceCrashing
│ stored: False InstancesProvisioning: Instances are being provisioned
└─ placement us                0/3  InstanceCrashing
   │ stored: False NoAvailableDeployments: No available deployments were found
   │ for the placement
   └─ deployment api-us0c2e1b  0/3  InstanceCrashing  at us
      │ stored: False InstancesProvisioning: Instances are being provisioned
      └─ api-us0c2e1b-0             InstanceCrashing  2 more like this
           Container "app" keeps exiting (last exit code 1); restarting

"stored" is what a status says where its instances say something else: Causeway
is not installed here, is paused, or is a moment behind.
`,
		},
		"the worst first where some of it serves": {
			build: partly, options: text.Options{Width: 80},
			want: `
Workload shop/web is available, but partly failing: 1 of 4 instances ready.

At least one available placement was found; placement "eu" is not available: 1
of 1 instances could not pull its image; placement "us": 1 of 3 instances is
repeatedly exiting and restarting.

What to do
  ImageUnavailable: Check the image's name and tag, and that the workload
    names a secret that may pull it.
  InstanceCrashing: Find out why the process exits: see its logs and the exit
    code (137: killed, often for want of memory), and check its command,
    environment and capabilities.

Workload web                   1/4  Available
├─ placement eu                0/1  ImageUnavailable
│  │ 1 of 1 instances could not pull its image.
│  └─ deployment web-eu0c2e1b  0/1  ImageUnavailable  at eu
│     └─ web-eu0c2e1b-0             ImageUnavailable
│          could not pull its image
└─ placement us                1/3  Available
   └─ deployment web-us0c2e1b  1/3  Available  at us
      ├─ web-us0c2e1b-1             InstanceCrashing
      │    Container "app" keeps exiting (last exit code 1); restarting
      ├─ web-us0c2e1b-2             Provisioning
      │    Instance is provisioning
      └─ web-us0c2e1b-0             Ready
`,
		},
		"one that is ready": {
			build: func(s *scene) { serves(s, "web") }, options: text.Options{Width: 80},
			want: `
Workload shop/web is available: 3 of 3 instances ready.

Workload web                   3/3  Available
└─ placement us                3/3  Available
   └─ deployment web-us0c2e1b  3/3  Available  at us
      └─ web-us0c2e1b-0             Ready  2 more like this
`,
		},
		"several, and colours": {
			build:   func(s *scene) { serves(s, "web"); serves(s, "docs"); truth(s) },
			options: text.Options{Width: 100, Colour: true},
			want: `
<1>Workload shop/api<0> <31>is not available<0>: 0 of 3 instances ready.

3 of 3 instances are repeatedly exiting and restarting: Container "app" keeps exiting (last exit
code 1); restarting.

What to do
  InstanceCrashing: Find out why the process exits: see its logs and the exit code (137: killed,
    often for want of memory), and check its command, environment and capabilities.

Workload api                   0/3  <31>InstanceCrashing<0>
└─ placement us                0/3  <31>InstanceCrashing<0>
   └─ deployment api-us0c2e1b  0/3  <31>InstanceCrashing<0>  at us
      └─ api-us0c2e1b-0             <31>InstanceCrashing<0>  2 more like this
           Container "app" keeps exiting (last exit code 1); restarting

<1>Workload shop/docs<0> <32>is available<0>: 3 of 3 instances ready.
<1>Workload shop/web<0> <32>is available<0>: 3 of 3 instances ready.

3 workloads: <31>1 failing<0>, <32>2 ready<0>.
`,
		},
		"wide": {
			build: truth, options: text.Options{Wide: true},
			want: `
Workload shop/api is not available: 0 of 3 instances ready.

3 of 3 instances are repeatedly exiting and restarting: Container "app" keeps exiting (last exit code 1); restarting.

What to do
  InstanceCrashing: Find out why the process exits: see its logs and the exit code (137: killed, often for want of memory), and check its command, environment and capabilities.

Workload api                   0/3  InstanceCrashing
│ 3 of 3 instances are repeatedly exiting and restarting: Container "app" keeps exiting (last exit code 1); restarting.
└─ placement us                0/3  InstanceCrashing
   │ 3 of 3 instances are repeatedly exiting and restarting: Container "app" keeps exiting (last exit code 1); restarting.
   └─ deployment api-us0c2e1b  0/3  InstanceCrashing  at us
      │ 3 of 3 instances are repeatedly exiting and restarting: Container "app" keeps exiting (last exit code 1); restarting.
      ├─ api-us0c2e1b-0             InstanceCrashing
      │    Container "app" keeps exiting (last exit code 1); restarting
      ├─ api-us0c2e1b-1             InstanceCrashing
      │    Container "app" keeps exiting (last exit code 1); restarting
      └─ api-us0c2e1b-2             InstanceCrashing
           Container "app" keeps exiting (last exit code 1); restarting
`,
		},
		"instances that may not be read": {
			build: func(s *scene) {
				truth(s)
				s.Instances = nil
				s.NoInstances = `instances.compute.datumapis.com is forbidden: User "bob" cannot list resource "instances"`
			}, options: text.Options{Width: 80},
			want: `
Workload shop/api is not available: 0 of 3 instances ready.

3 of 3 instances are repeatedly exiting and restarting: Container "app" keeps
exiting (last exit code 1); restarting.

What to do
  InstanceCrashing: Find out why the process exits: see its logs and the exit
    code (137: killed, often for want of memory), and check its command,
    environment and capabilities.

Workload api                   0/3  InstanceCrashing
└─ placement us                0/3  InstanceCrashing
   └─ deployment api-us0c2e1b  0/3  InstanceCrashing  at us, as its status says

Instances could not be read: instances.compute.datumapis.com is forbidden: User
"bob" cannot list resource "instances".
What is shown is what the statuses above say.
`,
		},
		"nothing was made yet, and the first instance is waited for": {
			build: func(s *scene) {
				s.workload("api", "False", "InstancesProvisioning", "Instances are being provisioned")
				s.deployment("us", "us", available("False", "InstancesProvisioning", "Instances are being provisioned"),
					available("False", "NoAvailableDeployments", "No available deployments were found for the placement"), waiting())
				s.Deployments[0].Desired = 3
			}, options: text.Options{Width: 80},
			want: `
Workload shop/api is not available yet: 0 of 1 instances ready, 3 wanted.

Instances are being provisioned.

What to do
  InstancesProvisioning: Wait a moment: instances are on their way and none
    has reported a failure.

Workload api                   0/1  InstancesProvisioning  3 wanted
└─ placement us                0/1  NoAvailableDeployments  3 wanted
   └─ deployment api-us0c2e1b  0/1  InstancesProvisioning  3 wanted, at us
      └─ api-us0c2e1b-0             Provisioning
           Instance is provisioning
`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &scene{}
			tc.build(s)
			var b strings.Builder
			require.NoError(t, text.Write(&b, tree.Build(s.Snapshot), tc.options))
			for _, code := range []string{"31", "32", "33", "1", "0"} {
				tc.want = strings.ReplaceAll(tc.want, "<"+code+">", "\x1b["+code+"m")
			}
			if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), b.String()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// Names may be long; nothing else passes the width.
func TestEightyColumns(t *testing.T) {
	for _, build := range []func(*scene){truth, lie, partly} {
		s := &scene{}
		build(s)
		var b strings.Builder
		require.NoError(t, text.Write(&b, tree.Build(s.Snapshot), text.Options{Width: 80}))
		for line := range strings.SplitSeq(b.String(), "\n") {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
		}
	}
}

// Whoever writes an Instance's status does not write to the reader's terminal.
func TestForeignTextIsPlain(t *testing.T) {
	s := &scene{}
	truth(s)
	evil := "\x1b[2J\x1b]0;owned\a\r\nall is \u202ewell\x00\xff"
	s.Workloads[0].Conditions[0].Message = evil
	s.Workloads[0].Placements[0].Name = evil
	s.Deployments[0].Placement = evil
	s.Deployments[0].Location = evil
	s.Deployments[0].Conditions[0].Reason = "Odd"
	s.Deployments[0].Conditions[0].Message = evil
	s.Instances[0].Conditions[0].Message = evil
	s.NoInstances = evil
	for _, blind := range []string{"", evil} {
		s.NoInstances = blind
		var b strings.Builder
		require.NoError(t, text.Write(&b, tree.Build(s.Snapshot), text.Options{Wide: true}))
		assert.NotContains(t, b.String(), "\x1b")
		assert.NotContains(t, b.String(), "\r")
		assert.NotContains(t, b.String(), "\x00")
		assert.NotContains(t, b.String(), "\u202e")
		assert.True(t, utf8.ValidString(b.String()))
	}
}
