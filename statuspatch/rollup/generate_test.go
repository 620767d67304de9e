package rollup_test

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// The generators draw a ceiling first and reasons of ranks up to it, so that
// low ranks win about as often as high ones. They draw odd input on purpose.

var (
	unknownReason = rapid.OneOf(rapid.StringMatching(`[A-Z][a-z]{1,2}`), rapid.Just(strings.Repeat("Long", 256)))
	invalidReason = rapid.SampledFrom([]string{"", " ", "not a reason", "9", "A-b", "A:", strings.Repeat("A", 1025)})
	anyText       = rapid.OneOf(
		rapid.SampledFrom([]string{
			"", ".", "short", "asks?", "The instance image could not be pulled", "Instance failed.", "100% %s %d", "a\r\n\x00\tb ",
			"1 of 1 instances has failed.", "2 of 2 instances are suspended: x. 1 of 2 instances has failed.", `placement "us": x`,
			"Instances are being provisioned", strings.Repeat("long ", 9400), strings.Repeat("€", 15666) + "\xe2\x82", strings.Repeat("\xff", 1200),
		}),
		rapid.String(),
	)
	anyStatus = rapid.SampledFrom([]metav1.ConditionStatus{"True", "False", "False", "False", "Unknown", "", "Odd"})
)

// reasonUpTo draws a reason of a rank up to the ceiling, under any of its names.
func reasonUpTo(t *rapid.T, ceiling int) string {
	if rapid.IntRange(0, 19).Draw(t, "odd") == 0 {
		return invalidReason.Draw(t, "invalid reason")
	}
	rank := reason.Rank(rapid.IntRange(max(0, ceiling-2), ceiling).Draw(t, "rank"))
	if rank == reason.Unknown && rapid.Bool().Draw(t, "unlisted") {
		return unknownReason.Draw(t, "unknown reason")
	}
	return rapid.SampledFrom(reason.OfRank(rank)).Draw(t, "reason")
}

func drawCondition(t *rapid.T, conditionType string, ceiling int) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: anyStatus.Draw(t, "status"), Reason: reasonUpTo(t, ceiling), Message: anyText.Draw(t, "message"),
		LastTransitionTime: metav1.Unix(rapid.Int64Range(0, 1000).Draw(t, "time"), 0),
	}
}

// drawConditions draws an Instance's conditions, some types repeatedly.
func drawConditions(t *rapid.T, ceiling int) []metav1.Condition {
	types := rapid.SliceOfN(rapid.SampledFrom([]string{
		"Ready", "Ready", "Available", "Running", "Programmed", "QuotaGranted", "ReferencedDataReady", "Degraded"}), 0, 5).Draw(t, "types")
	var list []metav1.Condition
	for _, conditionType := range types {
		list = append(list, drawCondition(t, conditionType, ceiling))
	}
	return list
}

func drawInstance(t *rapid.T, i, ceiling int, mayBeReady bool) rollup.Instance {
	conditions := drawConditions(t, ceiling)
	if mayBeReady && rapid.Bool().Draw(t, "ready") {
		conditions = []metav1.Condition{cond("Ready", "True", "Available", "")}
	}
	c := rollup.ReadInstance(rapid.IntRange(0, 5).Draw(t, "deleting") == 0, conditions)
	if c.Ready && !mayBeReady {
		c = rollup.Contribution{}
	}
	ordinal := rapid.SampledFrom([]int{0, 1, 2, 10, rollup.NoOrdinal}).Draw(t, "ordinal")
	return rollup.Instance{Member: rollup.Member{Ordinal: ordinal, Name: fmt.Sprint("web-", i)}, Contribution: c}
}

// drawBase draws a parent's own condition, or none.
func drawBase(t *rapid.T, ceiling int) *metav1.Condition {
	if rapid.Bool().Draw(t, "no condition") {
		return nil
	}
	c := drawCondition(t, "Available", ceiling)
	return &c
}

// drawDeployment draws a deployment with its Instances; carried says whether
// some of them may be missing.
func drawDeployment(t *rapid.T, i, ceiling int, mayBeReady, mayBeCarried bool) (rollup.Deployment, []rollup.Instance) {
	var instances []rollup.Instance
	for n := range rapid.IntRange(0, 6).Draw(t, "instances") {
		instances = append(instances, drawInstance(t, n, ceiling, mayBeReady))
	}
	d := rollup.Deployment{
		Name:      fmt.Sprint("d", i),
		Placement: rapid.SampledFrom([]string{"us", "eu", "ap", "", "\"\n\xff", strings.Repeat("\x01", 300), "z1", "z2"}).Draw(t, "placement"),
		Tally:     rollup.Sum(instances),
		Desired:   rapid.Int32Range(0, 6).Draw(t, "desired"),
		Replicas:  int32(len(instances)),
		Available: drawBase(t, ceiling),
	}
	if mayBeCarried && rapid.IntRange(0, 2).Draw(t, "carried") == 0 {
		d.Replicas += rapid.Int32Range(-9, 5).Draw(t, "more replicas")
	}
	return d, instances
}

func drawWorkload(t *rapid.T, ceiling int, mayBeReady bool) rollup.Workload {
	w := rollup.Workload{Available: drawBase(t, ceiling)}
	for i := range rapid.IntRange(0, 8).Draw(t, "deployments") {
		d, _ := drawDeployment(t, i, ceiling, mayBeReady, true)
		w.Deployments = append(w.Deployments, d)
	}
	names := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"us", "eu", "ap", "gone"}), rapid.ID).Draw(t, "placements")
	for _, name := range names {
		w.Placements = append(w.Placements, rollup.Placement{Name: name, Available: drawBase(t, ceiling)})
	}
	return w
}
