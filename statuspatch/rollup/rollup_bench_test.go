package rollup_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

func benchConditions(message string) []metav1.Condition {
	return []metav1.Condition{
		cond("Programmed", "True", "Programmed", "Instance is programmed"),
		cond("Available", "False", "InstanceCrashing", message),
		cond("Ready", "False", "InstanceCrashing", message),
		cond("QuotaGranted", "True", "QuotaAvailable", ""),
	}
}

func BenchmarkReadInstance(b *testing.B) {
	inputs := map[string][]metav1.Condition{
		"ready":       {cond("Ready", "True", "Available", ""), cond("Available", "True", "Available", ""), cond("Programmed", "True", "Programmed", "")},
		"failing":     benchConditions(`Container "app" keeps exiting (last exit code 1); restarting`),
		"bytes=32768": benchConditions(strings.Repeat("a b\n", 8192)),
	}
	for name, conditions := range inputs {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rollup.ReadInstance(false, conditions)
			}
		})
	}
}

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{10, 1000, 10000} {
		var instances []rollup.Instance
		for i := range n {
			instances = append(instances, rollup.Instance{Member: rollup.Member{Ordinal: i, Name: fmt.Sprint("web-", i)},
				Contribution: rollup.ReadInstance(false, benchConditions(fmt.Sprint("exit code ", i%7)))})
		}
		b.Run(fmt.Sprint("instances=", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rollup.Sum(instances)
			}
		})
	}
}

func benchTally() rollup.Tally {
	return tally(0, 3, fails("InstanceCrashing", 5000, 0, "exit code 1"), fails("ImageUnavailable", 4000, 7, "no such tag"),
		fails("OutOfCheese", 900, 8, ""), fails("QuotaNotGranted", 97, 9, "5 of 4 cores"))
}

func BenchmarkDeploymentAvailable(b *testing.B) {
	d := rollup.Deployment{Name: "web-us", Placement: "us", Tally: benchTally(), Replicas: 10000,
		Available: says("InstancesProvisioning", "Instances are being provisioned")}
	b.ReportAllocs()
	for b.Loop() {
		rollup.DeploymentAvailable(d)
	}
}

func BenchmarkWorkloadAvailable(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		var w rollup.Workload
		for i := range n {
			d := here(fmt.Sprint("p", i), benchTally())
			w.Placements = append(w.Placements, rollup.Placement{Name: d.Placement})
			w.Deployments = append(w.Deployments, d)
		}
		b.Run(fmt.Sprint("placements=", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rollup.WorkloadAvailable(w)
			}
		})
	}
}

// TestReadInstanceAllocatesNothing: it runs on every status write of every
// Instance, most of which say nothing new.
func TestReadInstanceAllocatesNothing(t *testing.T) {
	conditions := benchConditions(`Container "app" keeps exiting (last exit code 1); restarting`)
	if n := testing.AllocsPerRun(100, func() { rollup.ReadInstance(false, conditions) }); n > 0 {
		t.Errorf("ReadInstance of plain text allocates %v times, want none", n)
	}
}
