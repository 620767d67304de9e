package webhook

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	keepsAdmin = `container "app" keeps NET_ADMIN, which runtime class "web" does not grant; what is removed cannot be added again`
	lendsAdmin = `container "app" adds NET_ADMIN, which runtime class "web" does not grant; accepted because its owner adds it`
)

func TestARefusalIsAnswered422WithTheObjectAndItsCauses(t *testing.T) {
	h := hook(t, workloads, &reader{classes: published()})
	req := created(workloads, "shop", object(t, "Workload", "shop", runtimeOf("web", ctr("app", "NET_BIND_SERVICE", "SYS_ADMIN"))))
	assert.Equal(t, `{
  "uid": "review-1",
  "allowed": false,
  "status": {
    "metadata": {},
    "status": "Failure",
    "message": "Workload.compute.datumapis.com \"shop\" is invalid: spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.add[1]: Forbidden: capability \"SYS_ADMIN\" is not granted by runtime class \"web\", which grants NET_BIND_SERVICE; runtime class \"general-purpose\" grants everything this object adds",
    "reason": "Invalid",
    "details": {
      "name": "shop",
      "group": "compute.datumapis.com",
      "kind": "Workload",
      "causes": [
        {
          "reason": "FieldValueForbidden",
          "message": "Forbidden: capability \"SYS_ADMIN\" is not granted by runtime class \"web\", which grants NET_BIND_SERVICE; runtime class \"general-purpose\" grants everything this object adds",
          "field": "spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.add[1]"
        }
      ]
    },
    "code": 422
  }
}`, indented(t, h.Handle(t.Context(), req).AdmissionResponse))
}

func TestAnInstanceIsRefusedAtItsOwnPath(t *testing.T) {
	h := hook(t, instances, &reader{classes: published()})
	resp := h.Handle(t.Context(), created(instances, "shop-0", object(t, "Instance", "shop-0", runtimeOf("x", ctr("app", "ALL")))))
	require.False(t, resp.Allowed)
	assert.Equal(t, "Instance", resp.Result.Details.Kind)
	require.Len(t, resp.Result.Details.Causes, 2)
	assert.Equal(t, "spec.runtime.class", resp.Result.Details.Causes[0].Field)
	assert.Equal(t, "spec.runtime.sandbox.containers[0].securityContext.capabilities.add[0]", resp.Result.Details.Causes[1].Field)
}

func TestAnObjectWithoutANameGoesByItsPrefix(t *testing.T) {
	h := hook(t, workloads, &reader{classes: published()})
	raw := object(t, "Workload", "", runtimeOf("web", ctr("app", "ALL")), func(o map[string]any) {
		o["metadata"].(map[string]any)["generateName"] = "shop-"
	})
	resp := h.Handle(t.Context(), created(workloads, "", raw))
	assert.Equal(t, "shop-", resp.Result.Details.Name)
}

// Every row is one review; refused lists the fields of the causes.
func TestReviews(t *testing.T) {
	web := func(names ...string) *Runtime { return runtimeOf("web", ctr("app", names...)) }
	workload := func(r *Runtime, tw ...tweak) []byte { return object(t, "Workload", "shop", r, tw...) }
	deployment := func(r *Runtime, tw ...tweak) []byte { return object(t, "WorkloadDeployment", "shop-us", r, tw...) }
	instance := func(r *Runtime, tw ...tweak) []byte { return object(t, "Instance", "shop-us-0", r, tw...) }
	storedShop := decoded[Workload](t, workload(web("NET_ADMIN")))
	storedUS := decoded[WorkloadDeployment](t, deployment(web("NET_ADMIN")))
	byWorkload := owned("Workload", "shop", "uid-of-shop", true)
	byDeployment := owned("WorkloadDeployment", "shop-us", "uid-of-shop-us", false)
	const elsewhere = `left to the provider, as the owner is not on this control plane: container "app": capability "NET_ADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; runtime class "general-purpose" grants everything this object adds`

	for name, tc := range map[string]struct {
		req      admission.Request
		of       *resource
		stored   []client.Object
		outcome  Outcome
		warnings []string
		refused  []string
		lists    int32 // of the live reader
		gets     int32
	}{
		"a granted name costs no live read": {
			req: created(workloads, "shop", workload(web("NET_BIND_SERVICE"))), of: workloads, outcome: OutcomeAllowed,
		},
		"an object that adds nothing is not judged": {
			req: created(workloads, "shop", workload(runtimeOf("no-such-class", ctr("app")))), of: workloads, outcome: OutcomeAllowed,
		},
		"a refusal is read live": {
			req: created(workloads, "shop", workload(web("NET_ADMIN"))), of: workloads,
			outcome: OutcomeRefused, refused: []string{add0 + "[0]"}, lists: 1,
		},
		"a finalizer leaves an object that is being deleted": { // cases.md C1
			req: updatedFrom(workloads, "shop", workload(web("SYS_ADMIN"), deleting), workload(web("SYS_ADMIN"), deleting)),
			of:  workloads, outcome: OutcomeAllowed,
		},
		"an object that is being deleted is judged all the same when its runtime changes": {
			req: updatedFrom(workloads, "shop", workload(web("SYS_ADMIN"), deleting), workload(web(), deleting)),
			of:  workloads, outcome: OutcomeRefused, refused: []string{add0 + "[0]"}, lists: 1,
		},
		"a label changes on what was stored before the rules": { // cases.md C2
			req: updatedFrom(workloads, "shop", workload(web("NET_ADMIN"), labelled("b")), workload(web("NET_ADMIN"), labelled("a"))),
			of:  workloads, outcome: OutcomeKept, warnings: []string{keepsAdmin},
		},
		"a label changes where the ratchet alone would refuse": {
			req: updatedFrom(workloads, "shop",
				workload(runtimeOf("web", ctr("app", "NET_ADMIN").dropping("NET_ADMIN")), labelled("b")),
				workload(runtimeOf("web", ctr("app", "NET_ADMIN").dropping("NET_ADMIN")))),
			of: workloads, outcome: OutcomeAllowed,
		},
		"what is stored stays, what joins is refused": { // cases.md C3
			req: updatedFrom(workloads, "shop", workload(web("NET_ADMIN", "SYS_ADMIN")), workload(web("NET_ADMIN"))),
			of:  workloads, outcome: OutcomeRefused, refused: []string{add0 + "[1]"}, lists: 1,
		},
		"an add that comes back is refused": {
			req: updatedFrom(workloads, "shop", workload(web("NET_ADMIN")), workload(web())),
			of:  workloads, outcome: OutcomeRefused, refused: []string{add0 + "[0]"}, lists: 1,
		},
		"a deployment copies what its Workload was let through with": {
			req: created(workloadDeployments, "shop-us", deployment(web("NET_ADMIN"), byWorkload)),
			of:  workloadDeployments, stored: []client.Object{storedShop},
			outcome: OutcomeKept, warnings: []string{lendsAdmin}, lists: 1, gets: 1,
		},
		"a deployment without an owner reference goes by its workloadRef": {
			req: created(workloadDeployments, "shop-us", deployment(web("NET_ADMIN"), workloadRef("shop", "uid-of-shop"))),
			of:  workloadDeployments, stored: []client.Object{storedShop},
			outcome: OutcomeKept, warnings: []string{lendsAdmin}, lists: 1, gets: 1,
		},
		"a deployment adds more than its Workload": {
			req: created(workloadDeployments, "shop-us", deployment(web("NET_ADMIN", "SYS_ADMIN"), byWorkload)),
			of:  workloadDeployments, stored: []client.Object{storedShop},
			outcome: OutcomeRefused, refused: []string{add0 + "[1]"}, lists: 1, gets: 1,
		},
		"a namesake of the owner lends nothing": {
			req: created(workloadDeployments, "shop-us", deployment(web("NET_ADMIN"), owned("Workload", "shop", "uid-before", true))),
			of:  workloadDeployments, stored: []client.Object{storedShop},
			outcome: OutcomeRefused, refused: []string{add0 + "[0]"}, lists: 1, gets: 1,
		},
		"an owner of another kind lends nothing": {
			req: created(workloadDeployments, "shop-us", deployment(web("NET_ADMIN"), owned("Deployment", "shop", "uid-of-shop", true))),
			of:  workloadDeployments, stored: []client.Object{storedShop},
			outcome: OutcomeRefused, refused: []string{add0 + "[0]"}, lists: 1,
		},
		"a Workload that does not control the deployment lends nothing": {
			req: created(workloadDeployments, "shop-us", deployment(web("NET_ADMIN"), owned("Workload", "shop", "uid-of-shop", false))),
			of:  workloadDeployments, stored: []client.Object{storedShop},
			outcome: OutcomeRefused, refused: []string{add0 + "[0]"}, lists: 1,
		},
		"the owner is on another control plane": {
			req: created(workloadDeployments, "shop-us", deployment(web("NET_ADMIN"), workloadRef("shop", "uid-of-shop"))),
			of:  workloadDeployments, outcome: OutcomeOwnerElsewhere, warnings: []string{elsewhere}, lists: 1, gets: 1,
		},
		"an Instance copies what its deployment was let through with": {
			req: created(instances, "shop-us-0", instance(web("NET_ADMIN"), byDeployment)),
			of:  instances, stored: []client.Object{storedUS},
			outcome: OutcomeKept, warnings: []string{lendsAdmin}, lists: 1, gets: 1,
		},
		"an Instance nobody owns is refused": {
			req: created(instances, "shop-us-0", instance(web("NET_ADMIN"))), of: instances,
			stored: []client.Object{storedUS}, outcome: OutcomeRefused,
			refused: []string{"spec.runtime.sandbox.containers[0].securityContext.capabilities.add[0]"}, lists: 1,
		},
		"an Instance that is stored keeps what it adds": {
			req: updatedFrom(instances, "shop-us-0", instance(web("NET_ADMIN"), labelled("b")), instance(web("NET_ADMIN"))),
			of:  instances, outcome: OutcomeKept, warnings: []string{keepsAdmin},
		},
		"a status is not judged": { // cases.md C13
			req: func() admission.Request {
				r := updatedFrom(instances, "shop-us-0", instance(web("ALL")), instance(web()))
				r.SubResource = "status"
				return r
			}(), of: instances, outcome: OutcomeAllowed,
		},
		"a deletion is not judged": {
			req: request(workloads, admissionv1.Delete, "shop", nil, workload(web("ALL"))), of: workloads, outcome: OutcomeAllowed,
		},
		"a dry run is judged like any other": { // cases.md C12
			req: func() admission.Request {
				r, yes := created(workloads, "shop", workload(web("NET_ADMIN"))), true
				r.DryRun = &yes
				return r
			}(), of: workloads, outcome: OutcomeRefused, refused: []string{add0 + "[0]"}, lists: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			live := &reader{classes: published(), objects: tc.stored}
			h := hook(t, tc.of, live, func(o *Options) { o.Classes = &reader{classes: published()} })
			resp := h.Handle(t.Context(), tc.req)
			assert.Equal(t, "review-1", string(resp.UID))
			assert.Equal(t, tc.refused == nil, resp.Allowed)
			assert.Equal(t, tc.warnings, resp.Warnings)
			var refused []string
			if resp.Result.Details != nil {
				for _, c := range resp.Result.Details.Causes {
					refused = append(refused, c.Field)
				}
			}
			assert.Equal(t, tc.refused, refused)
			assert.Equal(t, tc.lists, live.lists.Load(), "live lists of classes")
			assert.Equal(t, tc.gets, live.gets.Load(), "live reads of owners")
			for _, o := range Outcomes {
				want := 0
				if o == tc.outcome {
					want = 1
				}
				assert.Equal(t, want, counted(t, h.metrics.reviews[tc.of.name][string(o)]), "reviews counted as %s", o)
			}
		})
	}
}

func TestTheCacheMayAcceptAndOnlyALiveReadMayRefuse(t *testing.T) {
	granted := created(workloads, "shop", object(t, "Workload", "shop", runtimeOf("new", ctr("app", "CHOWN"))))
	with := []RuntimeClass{granting("new", "CHOWN")}
	version := func(n string, class RuntimeClass) []RuntimeClass {
		class.UID, class.ResourceVersion = "uid", n
		return []RuntimeClass{class}
	}
	for name, tc := range map[string]struct {
		cached, live []RuntimeClass
		want         bool
	}{
		"a class published a moment ago is used":        {nil, with, true},
		"a class removed a moment ago may still accept": {with, nil, true},
		"a class in neither refuses":                    {nil, nil, false},
		"a class changed a moment ago is judged anew":   {version("1", granting("new")), version("2", granting("new", "CHOWN")), true},
		"a class that is the same still refuses":        {version("1", granting("new")), version("1", granting("new")), false},
	} {
		t.Run(name, func(t *testing.T) {
			h := hook(t, workloads, &reader{classes: tc.live}, func(o *Options) { o.Classes = &reader{classes: tc.cached} })
			assert.Equal(t, tc.want, h.Handle(t.Context(), granted).Allowed)
		})
	}
}

func TestRefusalsOfAllResourcesShareOneLiveRead(t *testing.T) {
	live := &reader{classes: published()}
	w, err := New(Options{Classes: &reader{}, Live: live, Registerer: newRegistry()})
	require.NoError(t, err)
	handlers := w.Handlers()
	for _, r := range resources {
		for range 10 {
			handlers[r.path].Handle(context.Background(), created(r, "shop", object(t, r.kind, "shop", runtimeOf("web", ctr("app", "ALL")))))
		}
	}
	assert.Equal(t, int32(1), live.lists.Load())
}

func TestAnAcceptedWorkloadIsToldWhichDefaultsItLoses(t *testing.T) {
	live := &reader{classes: []RuntimeClass{giving(granting("web", "CHOWN", "KILL"), "CHOWN", "KILL")}}
	want := []string{`container "app" loses defaults of runtime class "web" that its add does not restate: KILL`}
	for _, r := range resources {
		resp := hook(t, r, live).Handle(t.Context(), created(r, "shop", object(t, r.kind, "shop", runtimeOf("web", ctr("app", "CHOWN")))))
		assert.True(t, resp.Allowed)
		if r == workloads {
			assert.Equal(t, want, resp.Warnings)
		} else {
			assert.Empty(t, resp.Warnings, "the author of a %s is the platform", r.kind)
		}
	}
}

func TestModeWarnRefusesNothing(t *testing.T) {
	h := hook(t, workloads, &reader{classes: published()}, func(o *Options) { o.Mode = ModeWarn })
	resp := h.Handle(t.Context(), created(workloads, "shop", object(t, "Workload", "shop", runtimeOf("x", ctr("app", "ALL", "CHOWN")))))
	assert.True(t, resp.Allowed)
	assert.Equal(t, []string{
		`would be refused: runtime class "x" does not exist; there are "general-purpose", "unikernel", "web"`,
		`would be refused: container "app": ALL may not be added; list each capability`,
	}, resp.Warnings)
	assert.Equal(t, 1, counted(t, h.metrics.reviews["workloads"][string(OutcomeWouldRefuse)]))
	assert.Equal(t, 1, counted(t, h.metrics.refusals["workloads"][string(RuleAll)]))
	assert.Equal(t, 1, counted(t, h.metrics.refusals["workloads"][string(RuleClass)]))
	assert.Equal(t, 0, counted(t, h.metrics.refusals["workloads"][string(RuleGrant)]))
}
