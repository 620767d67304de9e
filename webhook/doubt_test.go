package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Each row is one way in which a review cannot be judged. All of them refuse a
// Workload, with a status that says why and what to do, and warn the others.
func TestDoubtRefusesAWorkloadAndWarnsItsChildren(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: Group, Resource: "runtimeclasses"}, "", errors.New("no rule allows it"))
	hidden := &url.Error{Op: "Get", URL: "https://198.51.100.1:443/x", Err: errors.New("connection refused")}
	breaks := func(r *resource) []byte { return object(t, r.kind, "shop", runtimeOf("web", ctr("app", "ALL"))) }
	badClass := func(r *resource) []byte {
		return object(t, r.kind, "shop", runtimeOf("web"), func(o map[string]any) {
			spec := o["spec"].(map[string]any)
			if r.kind != "Instance" {
				spec = spec["template"].(map[string]any)["spec"].(map[string]any)
			}
			spec["runtime"].(map[string]any)["class"] = 5
		})
	}
	const again = "; try again, and tell the platform's operator if this persists"
	for name, tc := range map[string]struct {
		live *reader
		req  func(*resource) admission.Request
		// why appears in the status and in the warning; "%s" is the path of spec.
		why    string
		code   int32
		reason metav1.StatusReason
		todo   string
	}{
		"the API server answers with an error": {
			live: &reader{listErr: forbidden},
			why:  `reading the runtime classes: runtimeclasses.compute.datumapis.com is forbidden: no rule allows it`,
			code: 503, reason: metav1.StatusReasonServiceUnavailable, todo: again,
		},
		"the API server cannot be reached, and its address is nobody's business": {
			live: &reader{listErr: hidden},
			why:  `reading the runtime classes: the API server gave no usable answer`,
			code: 503, reason: metav1.StatusReasonServiceUnavailable, todo: again,
		},
		"the API server does not answer in time": {
			live: &reader{onList: func(ctx context.Context) { <-ctx.Done() }},
			why:  `reading the runtime classes: no answer in time`,
			code: 504, reason: metav1.StatusReasonTimeout, todo: again,
		},
		"something panics": {
			live: &reader{onList: func(context.Context) { panic("boom") }},
			why:  `an internal fault, which has been logged`,
			code: 500, reason: metav1.StatusReasonInternalError, todo: again,
		},
		"there is no object": {
			req:  func(r *resource) admission.Request { return created(r, "shop", nil) },
			why:  `there is no object`,
			code: 400, reason: metav1.StatusReasonBadRequest, todo: "; correct the object and try again",
		},
		"the stored object does not decode": {
			req:  func(r *resource) admission.Request { return updatedFrom(r, "shop", breaks(r), badClass(r)) },
			why:  `the stored object: %s.runtime.class must be a string, not a number`,
			code: 500, reason: metav1.StatusReasonInternalError, todo: "; tell the platform's operator",
		},
	} {
		for _, r := range resources {
			t.Run(name+"/"+r.kind, func(t *testing.T) {
				// Time is virtual; the end lets a read end that nobody waits for.
				synctest.Test(t, func(t *testing.T) {
					defer time.Sleep(2 * maxBudget)
					live := tc.live
					if live == nil {
						live = &reader{classes: published()}
					} else {
						live = &reader{listErr: live.listErr, onList: live.onList}
					}
					req := created(r, "shop", breaks(r))
					if tc.req != nil {
						req = tc.req(r)
					}
					why := tc.why
					if r == instances {
						why = replaced(why, "spec")
					} else {
						why = replaced(why, "spec.template.spec")
					}
					ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errSlow)
					defer cancel()
					h := hook(t, r, live)
					resp := h.Handle(ctx, req)
					assert.Equal(t, "review-1", string(resp.UID))
					if r != workloads {
						assert.True(t, resp.Allowed)
						assert.Equal(t, []string{"the capabilities this object adds could not be checked: " + why}, resp.Warnings)
						assert.Equal(t, 1, counted(t, h.metrics.reviews[r.name][string(OutcomeDoubtAllowed)]))
						return
					}
					assert.False(t, resp.Allowed)
					assert.Equal(t, &metav1.Status{
						Status: metav1.StatusFailure, Code: tc.code, Reason: tc.reason,
						Message: `the capabilities that Workload "shop" adds could not be checked, so it was not stored: ` + why + tc.todo,
						Details: &metav1.StatusDetails{Group: Group, Kind: "Workload", Name: "shop"},
					}, resp.Result)
					assert.Equal(t, 1, counted(t, h.metrics.reviews[r.name][string(OutcomeDoubtRefused)]))

					later, stop := context.WithTimeoutCause(t.Context(), time.Second, errSlow)
					defer stop()
					soft := hook(t, r, live, func(o *Options) { o.Mode = ModeWarn }).Handle(later, req)
					assert.True(t, soft.Allowed, "in warn mode nothing is refused")
					assert.Len(t, soft.Warnings, 1)
				})
			})
		}
	}
}

func replaced(text, spec string) string {
	for i := range len(text) - 1 {
		if text[i:i+2] == "%s" {
			return text[:i] + spec + text[i+2:]
		}
	}
	return text
}

func TestAFieldThatDoesNotDecodeIsNamedAtItsPath(t *testing.T) {
	h := hook(t, workloads, &reader{classes: published()})
	raw := []byte(`{"metadata":{"name":"shop"},"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"securityContext":{"capabilities":{"add":"ALL"}}}]}}}}}}`)
	assert.Equal(t, `{
  "uid": "review-1",
  "allowed": false,
  "status": {
    "metadata": {},
    "status": "Failure",
    "message": "Workload.compute.datumapis.com \"shop\" is invalid: spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.add: Invalid value: must be a list, not a string",
    "reason": "Invalid",
    "details": {
      "name": "shop",
      "group": "compute.datumapis.com",
      "kind": "Workload",
      "causes": [
        {
          "reason": "FieldValueTypeInvalid",
          "message": "Invalid value: must be a list, not a string",
          "field": "spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.add"
        }
      ]
    },
    "code": 422
  }
}`, indented(t, h.Handle(t.Context(), created(workloads, "shop", raw)).AdmissionResponse))
}

func TestAnUndecodableObjectMayStillLoseItsFinalizer(t *testing.T) {
	h := hook(t, workloads, &reader{})
	old := []byte(`{"metadata":{"finalizers":["x/y"],"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"template":{"spec":{"runtime":{"sandbox":[]}}}}}`)
	updated := []byte(`{"metadata":{"finalizers":[],"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"template":{"spec":{"runtime":{"sandbox":[]}}}}}`)
	assert.True(t, h.Handle(t.Context(), updatedFrom(workloads, "shop", updated, old)).Allowed)
	assert.False(t, h.Handle(t.Context(), updatedFrom(workloads, "shop", updated, []byte(`{}`))).Allowed)
	assert.False(t, h.Handle(t.Context(), updatedFrom(workloads, "shop", updated, []byte(`{`))).Allowed)
}

func TestAGrantedObjectIsAcceptedWhateverIsWrongElsewhere(t *testing.T) {
	granted := object(t, "Workload", "shop", runtimeOf("web", ctr("app", "NET_BIND_SERVICE")))
	broken := &reader{listErr: errors.New("down")}
	h := hook(t, workloads, broken, func(o *Options) { o.Classes = &reader{classes: published()} })
	assert.True(t, h.Handle(t.Context(), created(workloads, "shop", granted)).Allowed, "no live read")
	assert.True(t, h.Handle(t.Context(), updatedFrom(workloads, "shop", granted, []byte(`[]`))).Allowed, "a stored object that does not decode")

	h = hook(t, workloads, &reader{classes: published()}, func(o *Options) { o.Classes = broken })
	assert.True(t, h.Handle(t.Context(), created(workloads, "shop", granted)).Allowed, "no cache")
}

func TestWhatTheReadOfAnOwnerMayAnswer(t *testing.T) {
	raw := object(t, "Instance", "shop-us-0", runtimeOf("web", ctr("app", "NET_ADMIN")), owned("WorkloadDeployment", "shop-us", "u1", true))
	resource := schema.GroupResource{Group: Group, Resource: "workloaddeployments"}
	for name, tc := range map[string]struct {
		err     error
		outcome Outcome
		warning string
	}{
		"not found: it is on another control plane": {
			apierrors.NewNotFound(resource, "shop-us"), OutcomeOwnerElsewhere, "left to the provider, ",
		},
		"the kind is not there: it is on another control plane": {
			fmt.Errorf("get: %w", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: Group, Kind: "WorkloadDeployment"}}), OutcomeOwnerElsewhere, "left to the provider, ",
		},
		"forbidden: doubt": {
			apierrors.NewForbidden(resource, "shop-us", errors.New("no rule allows it")), OutcomeDoubtAllowed,
			`the capabilities this object adds could not be checked: reading its owner, WorkloadDeployment "shop-us": workloaddeployments.compute.datumapis.com "shop-us" is forbidden: no rule allows it`,
		},
		"anything else: doubt": {
			errors.New("eof"), OutcomeDoubtAllowed,
			`the capabilities this object adds could not be checked: reading its owner, WorkloadDeployment "shop-us": the API server gave no usable answer`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := hook(t, instances, &reader{classes: published(), getErr: tc.err})
			resp := h.Handle(t.Context(), created(instances, "shop-us-0", raw))
			require.True(t, resp.Allowed)
			require.Len(t, resp.Warnings, 1)
			assert.Contains(t, resp.Warnings[0], tc.warning)
			assert.Equal(t, 1, counted(t, h.metrics.reviews["instances"][string(tc.outcome)]))
		})
	}
}
