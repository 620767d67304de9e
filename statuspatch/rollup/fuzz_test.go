package rollup_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/causeway-webhook/causeway/statuspatch/reason"
	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// goldenFiles are both halves of every golden file: the seeds of the fuzzers.
func goldenFiles(f *testing.F) (ins []goldenIn, outs []goldenOut) {
	f.Helper()
	paths, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		source, result, _ := strings.Cut(string(text), "\n---\n")
		var in goldenIn
		var out goldenOut
		if err := yaml.Unmarshal([]byte(source), &in); err != nil {
			f.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(result), &out); err != nil {
			f.Fatal(err)
		}
		ins, outs = append(ins, in), append(outs, out)
	}
	return ins, outs
}

// FuzzReadInstance: whatever an Instance says, reading it never panics, what
// its deployment says of it can be stored, and the parser reads it back.
func FuzzReadInstance(f *testing.F) {
	ins, _ := goldenFiles(f)
	for _, in := range ins {
		for _, d := range in.Deployments {
			for _, i := range d.Instances {
				for n := range i.Conditions {
					a, b := i.Conditions[n], i.Conditions[(n+1)%len(i.Conditions)]
					f.Add(i.Deleting, a.Type, string(a.Status), a.Reason, a.Message, b.Type, string(b.Status), b.Reason, b.Message)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, deleting bool, type1, status1, reason1, message1, type2, status2, reason2, message2 string) {
		conditions := []metav1.Condition{cond(type1, status1, reason1, message1), cond(type2, status2, reason2, message2)}
		c := rollup.ReadInstance(deleting, conditions)
		tally := rollup.Sum([]rollup.Instance{{Member: rollup.Member{Name: "web-0"}, Contribution: c}})
		v := rollup.DeploymentAvailable(rollup.Deployment{Tally: tally})
		if fault := storable(v); fault != "" {
			t.Fatalf("the API server would refuse %+v: %s", v, fault)
		}
		if v.Status == metav1.ConditionFalse && !rollup.InGrammar(v.Reason, v.Message) {
			t.Fatalf("Parse does not read back %+v", v)
		}
		if c.Ready != (v.Status == metav1.ConditionTrue) {
			t.Fatalf("%+v makes %+v", c, v)
		}
	})
}

// FuzzParse: whatever a controller says, parsing it never panics, and what is
// taken for Causeway's own is, letter by letter, of the form it writes.
func FuzzParse(f *testing.F) {
	ins, outs := goldenFiles(f)
	for i := range ins {
		for _, d := range ins[i].Deployments {
			if d.Available != nil {
				f.Add(d.Available.Reason, d.Available.Message)
			}
		}
		f.Add(outs[i].Workload.Reason, outs[i].Workload.Message)
	}
	f.Add("Failed", "1 of 9 instances has failed. 2 of 9 instances have stopped. 3 more instances are not running for other reasons.")
	f.Fuzz(func(t *testing.T, r, message string) {
		s, ok := rollup.Parse(r, message)
		if !ok || s.Default {
			return
		}
		if !strings.HasSuffix(message, s.Rest) {
			t.Fatalf("Parse(%q, %q) = %+v, whose rest is no end of the message", r, message, s)
		}
		head := strings.TrimSuffix(message, s.Rest)
		if s.Quoted {
			if !strings.HasPrefix(head, `placement "`) || !strings.HasSuffix(head, `": `) {
				t.Fatalf("Parse(%q, %q) = %+v", r, message, s)
			}
			return
		}
		counts := strconv.Itoa(s.Count) + " of " + strconv.Itoa(s.Of) + " instances "
		for _, phrase := range []string{reason.Phrase(r, s.Count), reason.UnknownPhrase(r, s.Count)} {
			for _, end := range []string{".", ". ", ": "} {
				if head == counts+phrase+end {
					return
				}
			}
		}
		t.Fatalf("Parse(%q, %q) = %+v, whose head %q is of no form that is written", r, message, s, head)
	})
}
