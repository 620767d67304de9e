package rollup_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

var update = flag.Bool("update", false, "write what the golden files under testdata should hold")

// A golden file is two YAML documents: children and bases as they come in, and
// the conditions that come out. Only the second is ever rewritten.
type (
	goldenIn struct {
		Available   *metav1.Condition  `json:"available"`
		Placements  []goldenPlacement  `json:"placements"`
		Deployments []goldenDeployment `json:"deployments"`
	}
	goldenPlacement struct {
		Name      string            `json:"name"`
		Available *metav1.Condition `json:"available"`
	}
	goldenDeployment struct {
		Name          string            `json:"name"`
		Placement     string            `json:"placement"`
		Desired       int32             `json:"desired"`
		Replicas      int32             `json:"replicas"` // at least the number of instances
		ReadyReplicas int32             `json:"readyReplicas"`
		Available     *metav1.Condition `json:"available"`
		Instances     []goldenInstance  `json:"instances"`
	}
	goldenInstance struct {
		Name       string             `json:"name"`
		Ordinal    *int               `json:"ordinal"`
		Deleting   bool               `json:"deleting"`
		Conditions []metav1.Condition `json:"conditions"`
	}

	goldenOut struct {
		Deployments map[string]map[string]goldenCondition `json:"deployments"`
		Placements  map[string]goldenCondition            `json:"placements"`
		Workload    goldenCondition                       `json:"workload"`
	}
	goldenCondition struct {
		Status  metav1.ConditionStatus `json:"status"`
		Reason  string                 `json:"reason"`
		Message string                 `json:"message"`
	}
)

func (in goldenIn) workload() rollup.Workload {
	w := rollup.Workload{Available: in.Available}
	for _, p := range in.Placements {
		w.Placements = append(w.Placements, rollup.Placement{Name: p.Name, Available: p.Available})
	}
	for _, d := range in.Deployments {
		w.Deployments = append(w.Deployments, rollup.Deployment{
			Name: d.Name, Placement: d.Placement, Desired: d.Desired, Tally: d.tally(), Available: d.Available,
			Replicas: max(d.Replicas, int32(len(d.Instances))), ReadyReplicas: d.ReadyReplicas,
		})
	}
	return w
}

func (d goldenDeployment) tally() rollup.Tally {
	var instances []rollup.Instance
	for _, in := range d.Instances {
		m := rollup.Member{Ordinal: rollup.NoOrdinal, Name: in.Name}
		if in.Ordinal != nil {
			m.Ordinal = *in.Ordinal
		}
		instances = append(instances, rollup.Instance{Member: m, Contribution: rollup.ReadInstance(in.Deleting, in.Conditions)})
	}
	return rollup.Sum(instances)
}

// rollUp leaves out the deployments that are carried: nothing is written there.
func rollUp(w rollup.Workload) goldenOut {
	out := goldenOut{Deployments: map[string]map[string]goldenCondition{}, Placements: map[string]goldenCondition{}}
	for _, d := range w.Deployments {
		if !d.Carried() {
			available := rollup.DeploymentAvailable(d)
			out.Deployments[d.Name] = map[string]goldenCondition{
				"Available":     goldenCondition(available),
				"ReplicasReady": goldenCondition(rollup.DeploymentReplicasReady(d, available)),
			}
		}
	}
	workload, placements := rollup.WorkloadAvailable(w)
	out.Workload = goldenCondition(workload)
	for i, p := range w.Placements {
		out.Placements[p.Name] = goldenCondition(placements[i])
	}
	return out
}

func TestGolden(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() { // fuzz corpora live in a folder
			files = append(files, e.Name())
		}
	}
	want := make([]string, 0, len(goldenIntents))
	for _, intent := range goldenIntents {
		want = append(want, intent+".yaml")
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("goldenIntents and the files of testdata do not match (-missing +extra):\n%s", diff)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) { checkGolden(t, filepath.Join("testdata", file)) })
	}
}

func checkGolden(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	source, want, _ := strings.Cut(string(text), "\n---\n")
	var in goldenIn
	if err := yaml.UnmarshalStrict([]byte(source), &in); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	got, err := yaml.Marshal(rollUp(in.workload()))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.TrimRight(source, "\n")+"\n---\n"+string(got)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("roll-up of %s (-want +got); go test -run TestGolden -update . rewrites it:\n%s", path, diff)
	}
}
