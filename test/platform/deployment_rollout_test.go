package platform

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// replica describes one Instance of a plan's input: its ordinal, then letters:
// r is Ready, s has a stale hash, d is being deleted.
func replica(description string) computeapi.Instance {
	var instance computeapi.Instance
	instance.Name = description
	instance.Labels = map[string]string{computeapi.InstanceIndexLabel: description[:1]}
	instance.Spec.Controller = &computeapi.InstanceSpecControl{TemplateHash: "new"}
	for _, letter := range description[1:] {
		switch letter {
		case 'r':
			Verdict{metav1.ConditionTrue, "Available", ""}.set(&instance.Status.Conditions, computeapi.ReadyCondition, 0)
		case 's':
			instance.Spec.Controller.TemplateHash = "old"
		case 'd':
			now := metav1.Now()
			instance.DeletionTimestamp = &now
		}
	}
	return instance
}

// describe names what a plan does: "+1" creates ordinal 1, "-0r" removes 0r.
func describe(plan rollout) []string {
	steps := []string{}
	for _, ordinal := range plan.create {
		steps = append(steps, "+"+strconv.Itoa(ordinal))
	}
	for _, instance := range plan.remove {
		steps = append(steps, "-"+instance.Name)
	}
	return steps
}

func TestRolloutPlans(t *testing.T) {
	for name, tc := range map[string]struct {
		desired                   int
		instances                 []string
		wantOrdered, wantParallel []string
	}{
		"nothing yet":                             {2, nil, []string{"+0"}, []string{"+0", "+1"}},
		"the next waits for its predecessor":      {2, []string{"0"}, []string{}, []string{"+1"}},
		"the next comes when that is Ready":       {2, []string{"0r"}, []string{"+1"}, []string{"+1"}},
		"a hole is filled first":                  {3, []string{"0r", "2r"}, []string{"+1"}, []string{"+1"}},
		"all there":                               {2, []string{"0r", "1r"}, []string{}, []string{}},
		"strays go first":                         {2, []string{"0", "x", "y"}, []string{"-x"}, []string{"+1", "-x", "-y"}},
		"a second of the same ordinal is a stray": {1, []string{"0r", "0"}, []string{"-0"}, []string{"-0"}},
		"stale ones are replaced from the top":    {2, []string{"0rs", "1rs"}, []string{"-1rs"}, []string{"-0rs", "-1rs"}},
		"a failing stale one is not replaced":     {1, []string{"0s"}, []string{}, []string{"-0s"}},
		"a terminating one is waited for":         {2, []string{"0rd"}, []string{}, []string{"+1"}},
		"scaled down from the top":                {1, []string{"0r", "1r", "2"}, []string{"-2"}, []string{"-2", "-1r"}},
		"a failing one holds up scaling down":     {1, []string{"0", "1r"}, []string{}, []string{"-1r"}},
		"down to nothing":                         {0, []string{"0", "1"}, []string{"-1"}, []string{"-1", "-0"}},
	} {
		t.Run(name, func(t *testing.T) {
			var instances []computeapi.Instance
			for _, description := range tc.instances {
				instances = append(instances, replica(description))
			}
			require.Equal(t, tc.wantOrdered, describe(planOrdered(tc.desired, "new", instances)), "ordered")
			require.Equal(t, tc.wantParallel, describe(planParallel(tc.desired, "new", instances)), "parallel")
		})
	}
}
