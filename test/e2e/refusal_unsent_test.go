package e2e

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// family is a Workload with a deployment and an Instance of the same template,
// stored, by kind.
func (r *refusals) family(name string, tweaks ...computeapi.WorkloadTweak) map[string]client.Object {
	r.t.Helper()
	w := workload(name, tweaks...)
	r.must(r.create(w))
	d := deploymentFor(w, name)
	r.must(r.create(d))
	i := instanceFor(d, name)
	r.must(r.create(i))
	return map[string]client.Object{"Workload": w, "WorkloadDeployment": d, "Instance": i}
}

// counts are a status without conditions.
const counts = `"replicas":1,"currentReplicas":1,"updatedReplicas":1,"desiredReplicas":1,"readyReplicas":1`

// statuses are a first status by kind.
var statuses = map[string]string{
	"Workload":           `{"deployments":1,` + counts + `}`,
	"WorkloadDeployment": `{` + counts + `}`,
	"Instance":           `{}`,
}

// patchStatus sends a JSON merge patch to the status.
func (r *refusals) patchStatus(o client.Object, patch string) answer {
	r.t.Helper()
	return r.ask(func(ctx context.Context, c client.Client) error {
		return c.Status().Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch)))
	})
}

// replicas changes how many Instances a Workload wants in its first placement.
func (r *refusals) replicas(o client.Object, replicas int) answer {
	r.t.Helper()
	return r.ask(func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, o, client.RawPatch(types.JSONPatchType,
			fmt.Appendf(nil, `[{"op":"replace","path":"/spec/placements/0/scaleSettings/minReplicas","value":%d}]`, replicas)))
	})
}

// scale sends a JSON merge patch to the scale of a deployment.
func (r *refusals) scale(o client.Object, replicas int) answer {
	r.t.Helper()
	scale := &unstructured.Unstructured{}
	scale.SetGroupVersionKind(schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"})
	return r.ask(func(ctx context.Context, c client.Client) error {
		return c.SubResource("scale").Patch(ctx, o,
			client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)), client.WithSubResourceBody(scale))
	})
}

// unjudged are the requests about an object that adds a capability which leave
// its runtime alone, in order; the last one ends it.
func (r *refusals) unjudged(kind string, o client.Object) {
	r.t.Helper()
	condition := fmt.Sprintf(`{"type":"Available","status":"False","reason":"Testing","message":"","lastTransitionTime":%q}`, "2026-01-01T00:00:00Z")
	for _, step := range []struct {
		what string
		do   func() answer
	}{
		{"label", func() answer { return r.patch(o, `{"metadata":{"labels":{"team":"blue"}}}`) }},
		{"annotation", func() answer { return r.patch(o, `{"metadata":{"annotations":{"note":"seen"}}}`) }},
		{"finalizer", func() answer { return r.patch(o, `{"metadata":{"finalizers":["example.com/hold"]}}`) }},
		{"first status", func() answer { return r.patchStatus(o, `{"status":`+statuses[kind]+`}`) }},
		{"condition", func() answer { return r.patchStatus(o, `{"status":{"conditions":[`+condition+`]}}`) }},
		{"no condition", func() answer { return r.patchStatus(o, `{"status":{"conditions":[]}}`) }},
		{"spec sent to the status", func() answer {
			return r.patchStatus(o, `{"spec":null,"metadata":{"labels":{"team":"red"}}}`)
		}},
		{"replicas", func() answer {
			switch kind {
			case "Workload":
				return r.replicas(o, 3)
			case "WorkloadDeployment":
				return r.scale(o, 3)
			default:
				return r.patch(o, `{"spec":{"controller":{"templateHash":"1","schedulingGates":[{"name":"Quota"}]}}}`)
			}
		}},
		{"no gate", func() answer {
			if kind != "Instance" {
				return accepted()
			}
			return r.patch(o, `{"spec":{"controller":{"schedulingGates":[]}}}`)
		}},
		{"the same again", func() answer {
			require.NoError(r.t, r.customer.Get(r.ctx, client.ObjectKeyFromObject(o), o))
			return r.update(o)
		}},
		{"deletion", func() answer { return r.delete(o) }},
		{"label while it is being deleted", func() answer { return r.patch(o, `{"metadata":{"labels":{"team":null}}}`) }},
		{"finalizer removed", func() answer { return r.patch(o, `{"metadata":{"finalizers":null}}`) }},
	} {
		require.True(r.t, r.exists(o), "before: "+step.what)
		require.Equal(r.t, accepted(), step.do(), step.what)
	}
	assert.False(r.t, r.exists(o), "after the last finalizer")
}

// testNeverSent: what cannot be refused does not leave the API server, so it
// costs nothing and needs nobody.
func testNeverSent(r *refusals) {
	before := r.calls()
	r.family("plain", computeapi.WithClass("unikernel"), computeapi.WithDrop("ALL"))
	assert.Empty(r.t, since(before, r.calls()), "what adds nothing")

	// Below, what adds is asked about once for each object.
	before = r.calls()
	adds := r.family("adds", computeapi.WithClass("web"), computeapi.WithAdd("NET_BIND_SERVICE"))
	assert.Equal(r.t, map[string]float64{
		"workloads allowed": 1, "workloaddeployments allowed": 1, "instances allowed": 1,
		webhookOf("Workload"): 1, webhookOf("WorkloadDeployment"): 1, webhookOf("Instance"): 1,
	}, since(before, r.calls()))

	before = r.calls()
	for kind, o := range adds {
		r.unjudged(kind, o)
		assert.Empty(r.t, since(before, r.calls()), kind)
	}

	w := workload("removes", computeapi.WithClass("web"), computeapi.WithAdd("NET_BIND_SERVICE"))
	r.must(r.create(w))
	before = r.calls()
	r.must(r.ask(func(ctx context.Context, c client.Client) error {
		stored := w.DeepCopy()
		setAdd(w, 0)
		return c.Patch(ctx, w, client.MergeFrom(stored))
	}))
	assert.Empty(r.t, since(before, r.calls()), "an update that takes away the last capability")
}

// runtimes are odd ones, as a client may send them.
var runtimes = map[string]string{
	"virtual machine":      `{"virtualMachine":{}}`,
	"unknown fields":       `{"class":"web","sandbox":{"containers":[{"name":"app","future":{"add":["SYS_ADMIN"]}}]}}`,
	"no context":           `{"sandbox":{"containers":[{"name":"app"}]}}`,
	"empty context":        `{"sandbox":{"containers":[{"name":"app","securityContext":{}}]}}`,
	"empty capabilities":   `{"sandbox":{"containers":[{"name":"app","securityContext":{"capabilities":{}}}]}}`,
	"empty add":            `{"sandbox":{"containers":[{"name":"app","securityContext":{"capabilities":{"add":[]}}}]}}`,
	"empty add and a drop": `{"sandbox":{"containers":[{"name":"app","securityContext":{"capabilities":{"add":[],"drop":["ALL"]}}}]}}`,
	"only another adds": `{"class":"web","sandbox":{"containers":[{"name":"log"},{"name":"odd","securityContext":{}},` +
		`{"name":"app","securityContext":{"capabilities":{"add":["NET_BIND_SERVICE"]}}}]}}`,
	"null context":      `{"sandbox":{"containers":[{"name":"app","securityContext":null}]}}`,
	"null capabilities": `{"sandbox":{"containers":[{"name":"app","securityContext":{"capabilities":null}}]}}`,
	"null add":          `{"sandbox":{"containers":[{"name":"app","securityContext":{"capabilities":{"add":null}}}]}}`,
	"null class":        `{"class":null,"sandbox":{"containers":[{"name":"app"}]}}`,
	"null sandbox":      `{"sandbox":null,"virtualMachine":{}}`,
	"null containers":   `{"sandbox":{"containers":null}}`,
	"null runtime":      `null`,
	"empty runtime":     `{}`,
}

// testOddObjects: every odd object is either stored or answered by the schema;
// no match condition ever fails, not even in updates from one to another and
// after a status without conditions.
func testOddObjects(r *refusals) {
	wraps := map[string]string{
		"Workload": `{"template":{"spec":{"runtime":%s,"networkInterfaces":[{"network":{"name":"default"}}]}},` +
			`"placements":[{"name":"main","locations":[{"name":"us"}],"scaleSettings":{"minReplicas":1}}]}`,
		"WorkloadDeployment": `{"workloadRef":{"name":"elsewhere","uid":"u"},"placementName":"main","locationRef":{"name":"us"},` +
			`"scaleSettings":{"minReplicas":1},"template":{"spec":{"runtime":%s,"networkInterfaces":[{"network":{"name":"default"}}]}}}`,
		"Instance": `{"runtime":%s,"networkInterfaces":[{"network":{"name":"default"}}]}`,
	}
	object := func(r *refusals, kind, name, runtime string) *unstructured.Unstructured {
		r.t.Helper()
		o := &unstructured.Unstructured{}
		require.NoError(r.t, json.Unmarshal(fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"namespace":%q,"name":%q},"spec":%s}`,
			computeapi.GroupVersion.String(), kind, namespace, name, fmt.Sprintf(wraps[kind], runtime)), &o.Object))
		return o
	}
	const adding = `{"class":"web","sandbox":{"containers":[{"name":"app","securityContext":{"capabilities":{"add":["NET_BIND_SERVICE"]}}}]}}`
	for kind := range wraps {
		for name, runtime := range runtimes {
			r.run(kind+" "+name, func(r *refusals) {
				o := object(r, kind, objectName(kind, name), runtime)
				if got := r.create(o.DeepCopy()); got.Status != nil {
					require.Equal(r.t, metav1.StatusReasonInvalid, got.Status.Reason, got.String())
					require.NotContains(r.t, got.Status.Message, "webhook")
					r.t.Logf("answered by the schema: %s", got.Status.Message)
					// Nor is it from what is fine to this.
					o = object(r, kind, o.GetName(), adding)
					r.must(r.create(o))
					next := object(r, kind, o.GetName(), runtime)
					next.SetResourceVersion(o.GetResourceVersion())
					got = r.update(next)
					require.NotNil(r.t, got.Status)
					require.NotContains(r.t, got.Status.Message, "webhook")
					return
				}
				for _, conditions := range []string{`[]`, `null`} {
					require.NoError(r.t, r.customer.Get(r.ctx, client.ObjectKeyFromObject(o), o))
					status := map[string]any{}
					require.NoError(r.t, json.Unmarshal([]byte(statuses[kind]), &status))
					var value any
					require.NoError(r.t, json.Unmarshal([]byte(conditions), &value))
					status["conditions"] = value
					o.Object["status"] = status
					got := r.ask(func(ctx context.Context, c client.Client) error { return c.Status().Update(ctx, o) })
					if got.Status != nil {
						require.NotContains(r.t, got.Status.Message, "webhook")
						r.t.Logf("conditions %s are answered by the schema: %s", conditions, got.Status.Message)
					}
				}
				// There and back: to what is judged, and from it.
				for _, step := range []string{adding, runtime, adding} {
					require.NoError(r.t, r.customer.Get(r.ctx, client.ObjectKeyFromObject(o), o))
					o.Object["spec"] = object(r, kind, "x", step).Object["spec"]
					r.must(r.update(o))
				}
			})
		}
	}
	r.noEvaluationErrors(r.ctx, r.t)
}
