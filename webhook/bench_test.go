package webhook

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
)

func boxes(n int, adds ...string) []box {
	out := make([]box, n)
	for i := range out {
		out[i] = ctr(fmt.Sprintf("c%d", i), adds...)
	}
	return out
}

func BenchmarkValidate(b *testing.B) {
	classes := NewClasses(published())
	for _, n := range []int{1, 10, 100} {
		for name, names := range map[string][]string{"granted": {"CHOWN", "KILL"}, "refused": {"SYS_ADMN", "CAP_CHOWN"}} {
			b.Run(fmt.Sprintf("containers=%d/%s", n, name), func(b *testing.B) {
				c := Case{Runtime: runtimeOf("general-purpose", boxes(n, names...)...), Classes: classes, Path: workloads.at}
				b.ReportAllocs()
				for b.Loop() {
					Validate(c)
				}
			})
		}
	}
}

func BenchmarkServeHTTP(b *testing.B) {
	live := &reader{classes: stored(published())}
	for _, n := range []int{1, 10, 100} {
		for name, class := range map[string]string{"granted": "general-purpose", "refused": "web"} {
			b.Run(fmt.Sprintf("containers=%d/%s", n, name), func(b *testing.B) {
				h := hook(b, workloads, live)
				body := review(b, workloads, "u", object(b, "Workload", "shop", runtimeOf(class, boxes(n, "CHOWN", "KILL")...)))
				ctx := context.Background()
				b.ReportAllocs()
				for b.Loop() {
					h.ServeHTTP(httptest.NewRecorder(), post(bytes.NewReader(body)).WithContext(ctx))
				}
			})
		}
	}
}

// What the healthy path allocates is bounded, so that nobody makes it dearer
// unawares: it is the path of nearly every review that arrives.
func TestAGrantedObjectIsValidatedWithoutGarbage(t *testing.T) {
	c := Case{
		Runtime: runtimeOf("general-purpose", boxes(10, "CHOWN", "KILL")...),
		Classes: NewClasses(published()), Path: workloads.at,
	}
	if got := testing.AllocsPerRun(100, func() { Validate(c) }); got > 2 {
		t.Errorf("Validate of 10 granted containers allocates %v times, want at most twice", got)
	}
}
