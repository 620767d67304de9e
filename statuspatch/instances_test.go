package statuspatch

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func reviewOf(t *testing.T, old, incoming any) admission.Request {
	t.Helper()
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "r1", Operation: admissionv1.Update, SubResource: "status",
		UserInfo:  authenticationv1.UserInfo{Username: "provider"},
		OldObject: runtime.RawExtension{Raw: encoded(t, old)},
		Object:    runtime.RawExtension{Raw: encoded(t, incoming)},
	}}
}

const (
	crashingSentence     = "False InstanceCrashing: 1 of 1 instances is repeatedly exiting and restarting: it exits."
	provisioningSentence = "False InstancesProvisioning: Instances are being provisioned"
)

// Every way a review may go, and that every one of them allows the write.
func TestReviewAlwaysAllows(t *testing.T) {
	yes := true
	cases := map[string]struct {
		// prepare changes the world, in which one deployment of one Instance is
		// provisioning.
		prepare func(*testing.T, *world)
		review  func(*testing.T) admission.Request
		budget  time.Duration

		wantOutcome    outcome
		wantWarnings   []string
		wantDeployment string
		wantWorkload   string
	}{
		"a failure is carried to both parents": {
			wantOutcome: outcomeApplied, wantDeployment: crashingSentence, wantWorkload: crashingSentence,
		},
		"a write that changes no contribution is allowed at once": {
			review: func(t *testing.T) admission.Request {
				return reviewOf(t, instanceJSON(0, 1, waitingJSON()), instanceJSON(0, 1, waitingJSON(), conditionJSON("Other", "True", "X", "")))
			},
			wantOutcome: outcomeUnchanged,
		},
		"a dry run writes nothing": {
			review: func(t *testing.T) admission.Request {
				r := reviewOf(t, instanceJSON(0, 1, waitingJSON()), instanceJSON(0, 1, crashingJSON()))
				r.DryRun = &yes
				return r
			},
			wantOutcome: outcomeUnchanged,
		},
		"an object that does not decode is allowed with a warning": {
			review: func(t *testing.T) admission.Request {
				r := reviewOf(t, instanceJSON(0, 1, waitingJSON()), instanceJSON(0, 1, crashingJSON()))
				r.Object.Raw = []byte(`{"kind":"Instance","status":{"conditions":7}}`)
				return r
			},
			wantOutcome: outcomeUndecodable, wantWarnings: []string{warnUndecodable},
		},
		"an object of another kind is allowed with a warning": {
			review: func(t *testing.T) admission.Request {
				return reviewOf(t, workloadJSON(), workloadJSON())
			},
			wantOutcome: outcomeUndecodable, wantWarnings: []string{warnUndecodable},
		},
		"a review without objects is allowed with a warning": {
			review: func(*testing.T) admission.Request {
				return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{UID: "r1"}}
			},
			wantOutcome: outcomeUndecodable, wantWarnings: []string{warnUndecodable},
		},
		"a deployment that does not exist is left alone": {
			review: func(t *testing.T) admission.Request {
				return reviewOf(t, instanceJSON(9, 9, waitingJSON()), instanceJSON(9, 9, crashingJSON()))
			},
			wantOutcome: outcomeDeferred, wantWarnings: []string{warnDeferred},
		},
		"an API server that fails is left to the loop": {
			prepare: func(_ *testing.T, w *world) {
				w.stub.hook(func(*http.Request) int { return http.StatusInternalServerError })
			},
			wantOutcome: outcomeDeferred, wantWarnings: []string{warnDeferred},
		},
		"an API server that asks to come later is left to the loop": {
			prepare: func(_ *testing.T, w *world) {
				w.stub.hook(func(*http.Request) int { return http.StatusTooManyRequests })
			},
			wantOutcome: outcomeDeferred, wantWarnings: []string{warnDeferred},
		},
		"an API server that is slow is left to the loop": {
			prepare: func(_ *testing.T, w *world) {
				w.stub.hook(func(r *http.Request) int { <-r.Context().Done(); return http.StatusInternalServerError })
				w.writer.timeout = 200 * time.Millisecond
			},
			budget:      10 * time.Millisecond,
			wantOutcome: outcomeDeferred, wantWarnings: []string{warnDeferred},
		},
		"a process that is not the active one writes nothing": {
			prepare:     func(_ *testing.T, w *world) { w.tenure.end() },
			wantOutcome: outcomeInactive,
		},
		"a process whose lease is old writes nothing": {
			prepare: func(_ *testing.T, w *world) {
				w.tenure.renewed.Store(w.tenure.elapsed() - int64(leaseFresh) - 1)
			},
			wantOutcome: outcomeInactive,
		},
		"a panic is allowed with a warning": {
			prepare: func(_ *testing.T, w *world) {
				w.instances.hasWorkloads = func() bool { panic("a fault") }
			},
			wantOutcome:    outcomePanic,
			wantWarnings:   []string{"causeway: an internal error kept the parents from being updated; they follow within seconds"},
			wantDeployment: crashingSentence,
		},
		"a parent being deleted is left alone": {
			prepare: func(t *testing.T, w *world) {
				for _, o := range []map[string]any{deploymentJSON(1, 1, provisioningJSON()), workloadJSON(provisioningJSON())} {
					o["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
					w.put(t, o)
				}
			},
			wantOutcome: outcomeApplied,
		},
		"a paused parent is left alone, and its children still count in its Workload": {
			prepare: func(t *testing.T, w *world) {
				d := deploymentJSON(1, 1, provisioningJSON())
				d["metadata"].(map[string]any)["annotations"] = map[string]any{"causeway.dev/paused": ""}
				w.put(t, d)
			},
			wantOutcome: outcomeApplied, wantWorkload: crashingSentence,
		},
		"a parent whose status was never written is left alone": {
			prepare: func(t *testing.T, w *world) {
				d := deploymentJSON(1, 1)
				delete(d, "status")
				w.put(t, d)
			},
			wantOutcome: outcomeApplied, wantDeployment: "no condition", wantWorkload: crashingSentence,
		},
		"a recreated deployment of the same name is left alone": {
			prepare: func(t *testing.T, w *world) {
				d := deploymentJSON(1, 1, provisioningJSON())
				d["metadata"].(map[string]any)["uid"] = "uid-of-the-successor"
				w.stub.put(resourceDeployments, d)
				w.ledger.ForgetDeployment("uid-d1")
			},
			wantOutcome: outcomeDeferred, wantWarnings: []string{warnDeferred},
		},
		"a deployment with more replicas than Instances seen is carried": {
			prepare:     func(t *testing.T, w *world) { w.put(t, deploymentJSON(1, 2, provisioningJSON())) },
			wantOutcome: outcomeApplied,
		},
		"a plane without Workloads updates the deployment": {
			prepare:     func(_ *testing.T, w *world) { w.instances.hasWorkloads = func() bool { return false } },
			wantOutcome: outcomeApplied, wantDeployment: crashingSentence,
		},
		"a conflict is met with a live read and a new answer": {
			prepare: func(t *testing.T, w *world) {
				// The watch has not delivered this version of the deployment yet.
				d := deploymentJSON(1, 1, conditionJSON("Foreign", "True", "Other", "stays"), provisioningJSON())
				w.stub.put(resourceDeployments, d)
			},
			wantOutcome: outcomeApplied, wantDeployment: crashingSentence, wantWorkload: crashingSentence,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(t, workloadJSON(provisioningJSON()), deploymentJSON(1, 1, provisioningJSON()), instanceJSON(0, 1, waitingJSON()))
			if tc.prepare != nil {
				tc.prepare(t, w)
			}
			base := w.stub.get(resourceInstances, "i0")
			next := instanceJSON(0, 1, crashingJSON())
			next["metadata"].(map[string]any)["resourceVersion"] = base["metadata"].(map[string]any)["resourceVersion"]
			review := reviewOf(t, base, next)
			if tc.review != nil {
				review = tc.review(t)
			}
			ctx := t.Context()
			if tc.budget > 0 {
				bounded, cancel := context.WithTimeoutCause(ctx, tc.budget, errBudget)
				defer cancel()
				ctx = bounded
			}

			var got outcome
			response := w.shell.answer(ctx, hookInstances, review, func(ctx context.Context, req admission.Request) (admission.Response, outcome) {
				r, o := w.instances.review(ctx, req)
				got = o
				return r, o
			})

			assert.True(t, response.Allowed, "a status write is always allowed")
			assert.Equal(t, tc.wantWarnings, response.Warnings)
			if got != "" {
				assert.Equal(t, tc.wantOutcome, got)
			}
			assert.InDelta(t, 1, counterValue(t, w.metrics.reviews[hookInstances][tc.wantOutcome]), 0)
			w.writer.close() // what the review left under way meets the same world
			w.stub.hook(nil)
			want := func(want, otherwise string) string {
				if want == "" {
					return otherwise
				}
				return want
			}
			assert.Equal(t, want(tc.wantDeployment, provisioningSentence), w.available(t, resourceDeployments, "d1"))
			assert.Equal(t, want(tc.wantWorkload, provisioningSentence), w.available(t, resourceWorkloads, "api"))
		})
	}
}

func TestWhatARequestCouldNotDoIsHandedToTheLoop(t *testing.T) {
	w := newWorld(t)
	w.put(t, workloadJSON(provisioningJSON()), deploymentJSON(1, 1, provisioningJSON()))
	w.stub.hook(func(*http.Request) int { return http.StatusInternalServerError })
	_, got := w.instances.review(t.Context(), reviewOf(t, instanceJSON(0, 1, waitingJSON()), instanceJSON(0, 1, crashingJSON())))
	require.Equal(t, outcomeDeferred, got)
	close(w.repaired)
	var names []string
	for p := range w.repaired {
		names = append(names, p.Name)
	}
	assert.ElementsMatch(t, []string{"d1", "api"}, names)
	assert.InDelta(t, 1, counterValue(t, w.metrics.deferrals[deferredError]), 0)
}

func TestDeferralsAreCountedByCause(t *testing.T) {
	cases := map[string]struct {
		err  error
		want deferral
	}{
		"the budget":            {errBudget, deferredBudget},
		"a client that is gone": {context.Canceled, deferredBudget},
		"a commit's own limit":  {context.DeadlineExceeded, deferredBudget},
		"no longer active":      {errNotActive, deferredInactive},
		"no such parent":        {errParentGone, deferredMissing},
		"anything else":         {errors.New("500"), deferredError},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, deferralOf(tc.err)) })
	}
}
