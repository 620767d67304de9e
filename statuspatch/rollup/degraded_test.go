package rollup_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

const degradedNot = "Nothing fails beside what serves"

func tallyOf(ready int, failures ...rollup.Failure) rollup.Tally {
	t := rollup.Tally{Seen: ready, Counted: ready, Ready: ready, Failures: failures}
	for _, f := range failures {
		t.Seen += f.Count
		t.Counted += f.Count
	}
	return t
}

var (
	crashes = rollup.Failure{Reason: "InstanceCrashing", Count: 1, Message: "it exits"}
	images  = rollup.Failure{Reason: "ImageUnavailable", Count: 2}
	moved   = rollup.Failure{Reason: "Disrupted", Count: 1}
)

func TestDegraded(t *testing.T) {
	down := &metav1.Condition{Type: "Available", Status: "False", Reason: "RuntimeClassNotServed", Message: "No cell in eu serves it."}
	cases := map[string]struct {
		deployments          []rollup.Deployment
		deployment, workload rollup.Verdict
	}{
		"all is well": {
			[]rollup.Deployment{{Placement: "us", Tally: tallyOf(2)}},
			rollup.Verdict{Status: "False", Reason: "AsExpected", Message: degradedNot},
			rollup.Verdict{Status: "False", Reason: "AsExpected", Message: degradedNot}},
		"all is down, which Available says": {
			[]rollup.Deployment{{Placement: "us", Tally: tallyOf(0, crashes)}},
			rollup.Verdict{Status: "False", Reason: "AsExpected", Message: degradedNot},
			rollup.Verdict{Status: "False", Reason: "AsExpected", Message: degradedNot}},
		"some of it fails": {
			[]rollup.Deployment{{Placement: "us", Tally: tallyOf(1, crashes, images, moved)}},
			rollup.Verdict{Status: "True", Reason: "ImageUnavailable",
				Message: "2 of 5 instances could not pull their image. 1 of 5 instances is repeatedly exiting and restarting."},
			rollup.Verdict{Status: "True", Reason: "ImageUnavailable",
				Message: `placement "us": 2 of 5 instances could not pull their image.`}},
		"what the platform works on passes by itself": {
			[]rollup.Deployment{{Placement: "us", Tally: tallyOf(1, moved)}},
			rollup.Verdict{Status: "False", Reason: "AsExpected", Message: degradedNot},
			rollup.Verdict{Status: "False", Reason: "AsExpected", Message: degradedNot}},
		"a placement is down, another fails in part": {
			[]rollup.Deployment{
				{Placement: "us", Tally: tallyOf(2, crashes)},
				{Placement: "eu", Tally: tallyOf(0, images), Available: down},
			},
			rollup.Verdict{Status: "True", Reason: "InstanceCrashing",
				Message: "1 of 3 instances is repeatedly exiting and restarting: it exits."},
			rollup.Verdict{Status: "True", Reason: "RuntimeClassNotServed",
				Message: `placement "eu": No cell in eu serves it; placement "us": 1 of 3 instances is repeatedly exiting and restarting.`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := rollup.Workload{Deployments: tc.deployments}
			workload, _ := rollup.WorkloadAvailable(w)
			d := tc.deployments[0]
			got := [2]rollup.Verdict{
				rollup.DeploymentDegraded(d, rollup.DeploymentAvailable(d)), rollup.WorkloadDegraded(w, workload),
			}
			assert.Equal(t, [2]rollup.Verdict{tc.deployment, tc.workload}, got)
			for _, v := range got {
				assert.True(t, rollup.IsDegraded(&metav1.Condition{Status: v.Status, Reason: v.Reason, Message: v.Message}), v.Message)
			}
		})
	}
}

func TestAnotherWritersDegradedIsNone(t *testing.T) {
	for _, c := range []*metav1.Condition{
		nil,
		{Status: "False", Reason: "AsExpected", Message: "All is as expected"},
		{Status: "False", Reason: "Well", Message: degradedNot},
		{Status: "True", Reason: "InstanceCrashing", Message: "some of it fails"},
		{Status: "Unknown", Reason: "AsExpected", Message: degradedNot},
	} {
		assert.False(t, rollup.IsDegraded(c), "%+v", c)
	}
}
