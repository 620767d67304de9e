package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// said is what a parent's Available says.
func (w writer) said(ctx context.Context, path string) (metav1.Condition, error) {
	text, err := w.send(ctx, http.MethodGet, path, plainJSON, nil)
	if err != nil {
		return metav1.Condition{}, err
	}
	var parent struct {
		Status struct{ Conditions []metav1.Condition }
	}
	if err := json.Unmarshal(text, &parent); err != nil {
		return metav1.Condition{}, fmt.Errorf("reading %s: %w", path, err)
	}
	if c := computeapi.Condition(parent.Status.Conditions, computeapi.AvailableCondition); c != nil {
		return *c, nil
	}
	return metav1.Condition{}, nil
}

// parentsRight counts the parents that say what the last flips of all Instances
// left them to say. It waits for nothing: the writes have returned.
func (f *fleet) parentsRight(ctx context.Context) (right int, err error) {
	for first := 0; first < len(f.turns); first += f.perDeployment {
		reason, message := f.expected(first)
		for _, path := range []string{f.deploymentPath(first), f.workloadPath(first)} {
			got, err := f.writers[0].said(ctx, path)
			if err != nil {
				return 0, err
			}
			if got.Status == metav1.ConditionFalse && got.Reason == reason && strings.HasPrefix(got.Message, message) {
				right++
			}
		}
	}
	return right, nil
}

// expected is what the only deployment of a Workload, and the Workload, have to
// say: how many of its Instances lack their image, which outranks crashes, and the
// detail of the first.
func (f *fleet) expected(first int) (reason, message string) {
	for _, s := range []state{lacksImage, crashing} {
		count, said := 0, ""
		for n := first; n < first+f.perDeployment; n++ {
			fails, detail := failure(n, f.turns[n])
			if fails != s {
				continue
			}
			if count++; count == 1 {
				said = detail
			}
		}
		switch {
		case count == 1:
			return s.reason, fmt.Sprintf("1 of %d instances %s: %s.", f.perDeployment, s.phrase, said)
		case count > 1:
			return s.reason, fmt.Sprintf("%d of %d instances %s: %s.", count, f.perDeployment, s.phrases, said)
		}
	}
	return "", ""
}
