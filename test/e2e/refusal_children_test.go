package e2e

import (
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// testChildren: a deployment or an Instance may add what its class grants, or
// what its owner adds, and nothing else; its author is told in the same words.
func testChildren(r *refusals) {
	const (
		notAdmin = `capability "SYS_ADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; ` +
			`runtime class "general-purpose" grants everything this object adds`
		elsewhere = `left to the provider, as the owner is not on this control plane: container "app": ` + notAdmin
	)
	owner := workload("modest", computeapi.WithClass("web"), computeapi.WithAdd("NET_BIND_SERVICE"))
	r.must(r.create(owner))
	deployment := deploymentFor(owner, "modest")
	r.must(r.create(deployment))
	r.must(r.create(instanceFor(deployment, "modest")))
	greedy := owner.DeepCopy()
	setAdd(greedy, 0, "NET_BIND_SERVICE", "SYS_ADMIN")

	r.run("a deployment that adds more than its owner", func(r *refusals) {
		d := deploymentFor(greedy, "greedy")
		want := invalid("WorkloadDeployment", d.Name, forbiddenIn("WorkloadDeployment", 0, 1, notAdmin))
		assert.Equal(r.t, want, r.create(d.DeepCopy()))
		assert.Equal(r.t, want, r.apply(d))
		assert.False(r.t, r.exists(d))
		assert.Equal(r.t, invalid("WorkloadDeployment", "modest", forbiddenIn("WorkloadDeployment", 0, 1, notAdmin)),
			r.change("WorkloadDeployment", deployment.DeepCopy(), setAddOf(0, `["NET_BIND_SERVICE","SYS_ADMIN"]`)))
	})
	r.run("named by its spec alone", func(r *refusals) {
		d := deploymentFor(greedy, "greedy-copy")
		d.OwnerReferences = nil
		assert.Equal(r.t, invalid("WorkloadDeployment", d.Name, forbiddenIn("WorkloadDeployment", 0, 1, notAdmin)), r.create(d))
	})
	r.run("an Instance that adds more than its owner", func(r *refusals) {
		i := instanceFor(deployment, "greedy")
		i.Spec = *greedy.Spec.Template.Spec.DeepCopy()
		want := invalid("Instance", i.Name, forbiddenIn("Instance", 0, 1, notAdmin))
		assert.Equal(r.t, want, r.create(i.DeepCopy()))
		assert.Equal(r.t, want, r.apply(i))
		i.OwnerReferences = nil
		assert.Equal(r.t, want, r.create(i.DeepCopy()), "an Instance of nobody")
		assert.False(r.t, r.exists(i))
	})
	r.run("a namesake of its owner lends nothing", func(r *refusals) {
		d := deploymentFor(greedy, "namesake")
		d.OwnerReferences[0].UID, d.Spec.WorkloadRef.UID = "another", "another"
		assert.Equal(r.t, invalid("WorkloadDeployment", d.Name, forbiddenIn("WorkloadDeployment", 0, 1, notAdmin)), r.create(d))
		i := instanceFor(deployment, "namesake")
		i.Spec = *greedy.Spec.Template.Spec.DeepCopy()
		i.OwnerReferences[0].UID = "another"
		assert.Equal(r.t, invalid("Instance", i.Name, forbiddenIn("Instance", 0, 1, notAdmin)), r.create(i))
	})
	r.run("an owner on another plane", func(r *refusals) {
		before := r.calls()
		d := deploymentFor(greedy, "projected")
		d.OwnerReferences = nil
		d.Spec.WorkloadRef = computeapi.WorkloadReference{Name: "far-away", UID: "far-away"}
		assert.Equal(r.t, accepted(elsewhere), r.create(d))
		assert.True(r.t, r.exists(d))
		// A projected Instance's reference is no controller's.
		i := instanceFor(deployment, "projected")
		i.Spec = *greedy.Spec.Template.Spec.DeepCopy()
		no := false
		i.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: computeapi.GroupVersion.String(), Kind: "WorkloadDeployment", Name: "far-away", UID: "far-away", Controller: &no,
		}}
		assert.Equal(r.t, accepted(elsewhere), r.create(i))
		assert.True(r.t, r.exists(i))
		assert.Equal(r.t, map[string]float64{
			"workloaddeployments owner_elsewhere": 1, "instances owner_elsewhere": 1,
			webhookOf("WorkloadDeployment"): 1, webhookOf("Instance"): 1,
		}, since(before, r.calls()))
	})
	r.run("no default class", func(r *refusals) {
		// Instances and deployments are told the same about classes as Workloads.
		d := deploymentFor(greedy, "classless")
		d.Spec.Template.Spec.Runtime.Class = "nosuch"
		assert.Equal(r.t, invalid("WorkloadDeployment", d.Name, metav1.StatusCause{
			Type: metav1.CauseTypeFieldValueNotSupported, Field: "spec.template.spec.runtime.class",
			Message: `Unsupported value: "nosuch": runtime class "nosuch" does not exist; there are "edge", "general-purpose", "unikernel", "web"`,
		}), r.create(d))
		i := instanceFor(deployment, "classless")
		i.Spec.Runtime.Class = "nosuch"
		assert.Equal(r.t, invalid("Instance", i.Name, metav1.StatusCause{
			Type: metav1.CauseTypeFieldValueNotSupported, Field: "spec.runtime.class",
			Message: `Unsupported value: "nosuch": runtime class "nosuch" does not exist; there are "edge", "general-purpose", "unikernel", "web"`,
		}), r.create(i))
	})
	r.run("children do not hear of lost defaults", func(r *refusals) {
		d := deploymentFor(greedy, "defaults")
		d.Spec.Template.Spec.Runtime.Class = "general-purpose"
		r.must(r.create(d))
		r.must(r.create(instanceFor(d, "defaults")))
	})
}
