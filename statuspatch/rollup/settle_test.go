package rollup_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
)

// at is a condition with a time, in seconds of the epoch, and a generation.
func at(status metav1.ConditionStatus, seconds, generation int64) *metav1.Condition {
	return &metav1.Condition{Type: "Available", Status: status, Reason: "Old", Message: "old",
		LastTransitionTime: metav1.Unix(seconds, 0), ObservedGeneration: generation}
}

func TestSettle(t *testing.T) {
	undated := &metav1.Condition{Type: "Available", Status: "False"}
	now := time.Date(2026, 7, 1, 12, 0, 0, 987654321, time.FixedZone("", 3600))
	nowSeconds := metav1.NewTime(time.Date(2026, 7, 1, 11, 0, 0, 0, time.UTC))
	tests := map[string]struct {
		stored, incoming *metav1.Condition
		wantTime         metav1.Time
		wantGeneration   int64
	}{
		"nothing was there":                        {nil, nil, nowSeconds, 0},
		"the status stays":                         {at("False", 100, 3), nil, metav1.Unix(100, 0), 3},
		"the status changes":                       {at("True", 100, 3), nil, nowSeconds, 3},
		"the stored time goes before the incoming": {at("False", 100, 3), at("False", 200, 4), metav1.Unix(100, 0), 4},
		"only the incoming status is the result's": {at("True", 100, 3), at("False", 200, 4), metav1.Unix(200, 0), 4},
		"nothing stored yet":                       {nil, at("False", 200, 4), metav1.Unix(200, 0), 4},
		"neither status is the result's":           {at("True", 100, 3), at("Unknown", 200, 4), nowSeconds, 4},
		"incoming without a generation":            {at("False", 100, 3), at("False", 200, 0), metav1.Unix(100, 0), 0},
		"a condition without a time dates nothing": {undated, nil, nowSeconds, 0},
		"the epoch is a time":                      {at("False", 0, 1), nil, metav1.Unix(0, 0), 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := rollup.Settle(tc.stored, tc.incoming, "Available", isFalse("Failed", "1 of 1 instances has failed."), now)
			want := metav1.Condition{Type: "Available", Status: "False", Reason: "Failed", Message: "1 of 1 instances has failed.",
				LastTransitionTime: tc.wantTime, ObservedGeneration: tc.wantGeneration}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Settle (-want +got):\n%s", diff)
			}
			again := rollup.Settle(&got, nil, "Available", isFalse("Failed", "1 of 1 instances has failed."), now.Add(time.Hour))
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("Settle of its own result an hour later (-first +second):\n%s", diff)
			}
		})
	}
}

func TestSame(t *testing.T) {
	a := at("False", 100, 3)
	later := *at("False", 200, 3)
	if !rollup.Same(a, later) {
		t.Error("Same = false, want conditions that differ in lastTransitionTime only to be the same")
	}
	if rollup.Same(nil, later) {
		t.Error("Same(nil, ...) = true, want false")
	}
	tweaks := map[string]func(*metav1.Condition){
		"type":       func(c *metav1.Condition) { c.Type = "Ready" },
		"status":     func(c *metav1.Condition) { c.Status = "True" },
		"reason":     func(c *metav1.Condition) { c.Reason = "New" },
		"message":    func(c *metav1.Condition) { c.Message = "new" },
		"generation": func(c *metav1.Condition) { c.ObservedGeneration++ },
	}
	for name, tweak := range tweaks {
		b := later
		tweak(&b)
		if rollup.Same(a, b) {
			t.Errorf("Same = true for another %s, want false", name)
		}
	}
}
