package e2e

import (
	"context"
	"fmt"
	"os"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
)

// byABAC is what the second authorizer of these tests' API server adds. Since
// 1.37 it says which one it is.
var byABAC = map[string]string{"": ": abac: No policy matched.", "1.36": ": No policy matched."}[os.Getenv(controlplane.VersionEnv)]

// testDoubt: the webhook may no longer read the classes live. What it has in
// memory may still accept, and may not refuse.
func testDoubt(r *refusals) {
	cannot := `runtimeclasses.compute.datumapis.com is forbidden: ` +
		`User "system:serviceaccount:causeway-system:causeway" cannot list resource "runtimeclasses" in API group "compute.datumapis.com" at the cluster scope` + byABAC
	doubt := func(name string) answer {
		return answer{Status: &metav1.Status{
			Status: metav1.StatusFailure,
			Message: `admission webhook "workloads.capabilities.causeway.dev" denied the request: ` +
				`the capabilities that Workload "` + name + `" adds could not be checked, so it was not stored: ` +
				`reading the runtime classes: ` + cannot + `; try again, and tell the platform's operator if this persists`,
			Reason:  metav1.StatusReasonServiceUnavailable,
			Details: &metav1.StatusDetails{Name: name, Group: computeapi.Group, Kind: "Workload"},
			Code:    503,
		}}
	}
	lender := workload("lender", computeapi.WithClass("web"))
	r.must(r.create(lender))
	holder := deploymentFor(lender, "holder")
	r.must(r.create(holder))
	granted := workload("granted-before", computeapi.WithClass("web"), computeapi.WithAdd("NET_BIND_SERVICE"))
	r.must(r.create(granted))

	binding := &rbacv1.ClusterRoleBinding{}
	require.NoError(r.t, r.operator.Get(r.ctx, client.ObjectKey{Name: "causeway-refusal"}, binding))
	require.NoError(r.t, r.operator.Delete(r.ctx, binding))
	restore := func() {
		binding.ResourceVersion = ""
		require.NoError(r.t, r.operator.Create(r.ctx, binding))
		r.inForce()
	}
	defer restore()
	r.until(workload("settling", computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN")), doubt("settling"))

	r.run("a Workload is refused", func(r *refusals) {
		for way, send := range ways {
			w := workload(objectName(r.t.Name(), way), computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN"))
			assert.Equal(r.t, doubt(w.Name), send(r, w), way)
		}
		setAdd(granted, 0, "NET_BIND_SERVICE", "NET_ADMIN")
		assert.Equal(r.t, doubt(granted.Name), r.update(granted))
	})
	r.run("its children are warned", func(r *refusals) {
		before := r.calls()
		warning := `the capabilities this object adds could not be checked: reading the runtime classes: ` + cannot
		w := lender.DeepCopy()
		setAdd(w, 0, "NET_ADMIN")
		d := deploymentFor(w, "doubted")
		assert.Equal(r.t, accepted(warning[:253]+"..."), r.create(d))
		i := instanceFor(d, "doubted")
		assert.Equal(r.t, accepted(warning[:253]+"..."), r.create(i))
		assert.True(r.t, r.exists(d))
		assert.True(r.t, r.exists(i))
		assert.Equal(r.t, map[string]float64{
			"workloaddeployments doubt_allowed": 1, "instances doubt_allowed": 1,
			webhookOf("WorkloadDeployment"): 1, webhookOf("Instance"): 1,
		}, since(before, r.calls()))
	})
	r.run("what is known to be granted is accepted", func(r *refusals) {
		for way, send := range ways {
			w := workload(objectName(r.t.Name(), way), computeapi.WithClass("web"), computeapi.WithAdd("NET_BIND_SERVICE"))
			assert.Equal(r.t, accepted(), send(r, w), way)
		}
	})
	r.run("and what adds nothing", func(r *refusals) {
		r.must(r.create(workload("undoubted", computeapi.WithClass("nosuch"))))
	})
	r.run("an owner that cannot be read", func(r *refusals) {
		w := lender.DeepCopy()
		setAdd(w, 0, "NET_ADMIN")
		d := deploymentFor(w, "unread-owner")
		role := &rbacv1.ClusterRole{}
		require.NoError(r.t, r.operator.Get(r.ctx, client.ObjectKey{Name: "causeway-refusal"}, role))
		whole := role.DeepCopy()
		role.Rules = role.Rules[:1]
		require.NoError(r.t, r.operator.Update(r.ctx, role))
		defer func() {
			whole.ResourceVersion = role.ResourceVersion
			require.NoError(r.t, r.operator.Update(r.ctx, whole))
			r.until(d, invalid("WorkloadDeployment", d.Name, forbiddenIn("WorkloadDeployment", 0, 0, `capability "NET_ADMIN" is not `+
				`granted by runtime class "web", which grants NET_BIND_SERVICE; runtime class "edge" grants everything this object adds`)))
			require.NoError(r.t, r.operator.Delete(r.ctx, binding))
		}()
		restore()

		warning := `the capabilities this object adds could not be checked: reading its owner, Workload "lender": ` +
			`workloads.compute.datumapis.com "lender" is forbidden: User "system:serviceaccount:causeway-system:causeway" ` +
			`cannot get resource "workloads" in API group "compute.datumapis.com" in the namespace "shop"` + byABAC
		r.until(d, accepted(warning[:253]+"..."))
		warning = `the capabilities this object adds could not be checked: reading its owner, WorkloadDeployment "holder": ` +
			`workloaddeployments.compute.datumapis.com "holder" is forbidden: User "system:serviceaccount:causeway-system:causeway" ` +
			`cannot get resource "workloaddeployments" in API group "compute.datumapis.com" in the namespace "shop"` + byABAC
		i := instanceFor(holder, "unread-owner")
		i.Spec = *d.Spec.Template.Spec.DeepCopy()
		assert.Equal(r.t, accepted(warning[:253]+"..."), r.create(i))
	})
}

// testOnlyWarning: with --capabilities=warn everything is stored, and its author
// told what would be refused.
func testOnlyWarning(r *refusals) {
	r.RefusalFront.Active().Kill()
	_, err := r.StartWebhookWith(r.ctx, "--capabilities=warn")
	require.NoError(r.t, err)
	defer func() {
		r.RefusalFront.Active().Kill()
		_, err := r.StartWebhookWith(r.ctx)
		require.NoError(r.t, err)
		r.inForce()
	}()
	const would = `would be refused: container "app": `

	for name, tc := range map[string]struct {
		tweaks []computeapi.WorkloadTweak
		want   []string
	}{
		"not granted": {
			[]computeapi.WorkloadTweak{computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN", "NET_BIND_SERVICE", "ALL")},
			[]string{
				would + `capability "NET_ADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; ` +
					`no runtime class grants everything this object adds`,
				would + `ALL may not be added; list each capability`,
			},
		},
		"prefix": {
			[]computeapi.WorkloadTweak{computeapi.WithClass("web"), computeapi.WithAdd("CAP_NET_BIND_SERVICE")},
			[]string{would + `write "NET_BIND_SERVICE", without the CAP_ prefix`},
		},
		"feature": {
			[]computeapi.WorkloadTweak{computeapi.WithAdd("NET_ADMIN", "NET_BIND_SERVICE")},
			[]string{would + `runtime class "unikernel" grants no capabilities; runtime class "edge" grants everything this object adds`},
		},
		"class": {
			[]computeapi.WorkloadTweak{computeapi.WithClass("nosuch"), computeapi.WithAdd("NET_ADMIN")},
			[]string{`would be refused: runtime class "nosuch" does not exist; there are "edge", "general-purpose", "unikernel", "web"`},
		},
	} {
		r.run(name, func(r *refusals) {
			for way, send := range ways {
				w := workload(objectName(r.t.Name(), way), tc.tweaks...)
				assert.Equal(r.t, accepted(tc.want...), send(r, w), way)
			}
		})
	}
	r.run("a child", func(r *refusals) {
		w := workload("warned-owner", computeapi.WithClass("web"))
		r.must(r.create(w))
		adding := w.DeepCopy()
		setAdd(adding, 0, "NET_ADMIN")
		d := deploymentFor(adding, "warned-child")
		before := r.calls()
		assert.Equal(r.t, accepted(would+`capability "NET_ADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; `+
			`runtime class "edge" grants everything this object adds`), r.create(d))
		assert.Equal(r.t, map[string]float64{"workloaddeployments would_refuse": 1, webhookOf("WorkloadDeployment"): 1}, since(before, r.calls()))
		// Its own child copies it, which is no worse than the owner is.
		i := instanceFor(d, "warned-grandchild")
		assert.Equal(r.t, accepted(`container "app" adds NET_ADMIN, which runtime class "web" does not grant; accepted because its owner adds it`),
			r.create(i))
	})
	r.run("more than a header holds", func(r *refusals) {
		w := workload("much", computeapi.WithClass("web"))
		tooMany(w)
		got := r.create(w)
		require.Nil(r.t, got.Status)
		length := 0
		for i, text := range got.Warnings {
			length += len(text)
			if i < len(got.Warnings)-1 {
				assert.Regexp(r.t, "^would be refused: container .* no runtime class grants everything this object adds$", text)
			}
		}
		assert.LessOrEqual(r.t, length, 4096)
		assert.Equal(r.t, fmt.Sprintf("... and %d more warnings", 3*64-len(got.Warnings)+1), got.Warnings[len(got.Warnings)-1])
	})
	r.run("the spec is as it was sent", func(r *refusals) {
		w := workload("warned", computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN"))
		want := w.DeepCopy().Spec
		r.ask(func(ctx context.Context, c client.Client) error { return c.Create(ctx, w) })
		assert.Equal(r.t, want, get(r.scene, "warned", &computeapi.Workload{}).Spec)
	})
}
