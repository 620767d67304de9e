package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

// Objects that the rules would refuse today are stored already, in one of two
// ways: before the configuration was installed, or before a class shrank.
func TestRefusalRatchet(t *testing.T) {
	r := startRefusals(t, environment.Options{Without: []string{environment.Refusal}})

	// Before the configuration, everything is stored and nobody is asked.
	before := r.calls()
	old := map[string]map[string]client.Object{}
	for _, name := range []string{"changes", "grows", "unjudged"} {
		old[name] = r.family("old-"+name, computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN"))
	}
	others := map[string]*computeapi.Workload{}
	for name, tweaks := range map[string][]computeapi.WorkloadTweak{
		"reclassed": {computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN")},
		"dropped":   {computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN"), computeapi.WithDrop("NET_ADMIN")},
		"all":       {computeapi.WithClass("web"), computeapi.WithAdd("ALL", "CAP_NET_ADMIN")},
		"two": {
			computeapi.WithClass("web"), computeapi.WithContainer("log", "log:1"),
			inContainer(0, "NET_ADMIN"), inContainer(1, "SYS_TIME", "NET_BIND_SERVICE"),
		},
		"unknown": {computeapi.WithClass("nosuch"), computeapi.WithAdd("NET_ADMIN")},
		"default": {computeapi.WithAdd("NET_ADMIN")},
	} {
		others[name] = workload("old-"+name, tweaks...)
		r.must(r.create(others[name]))
	}
	assert.Empty(t, since(before, r.calls()))
	require.NoError(t, r.InstallLeftOut(r.ctx))
	r.inForce()

	for _, kind := range []string{"Workload", "WorkloadDeployment", "Instance"} {
		r.run("an older "+kind+" changes", func(r *refusals) { testOldChanges(r, kind, old["changes"][kind]) })
		r.run("an older "+kind+" may not grow", func(r *refusals) { testOldGrows(r, kind, old["grows"][kind]) })
		r.run("an older "+kind+" is not even asked about", func(r *refusals) {
			before := r.calls()
			r.unjudged(kind, old["unjudged"][kind])
			assert.Empty(r.t, since(before, r.calls()))
		})
	}
	r.run("another class is judged afresh", func(r *refusals) { testReclassed(r, others["reclassed"]) })
	r.run("what was dropped was never in force", func(r *refusals) { testDropped(r, others["dropped"]) })
	r.run("ALL and a prefix", func(r *refusals) { testOldAll(r, others["all"]) })
	r.run("two containers", func(r *refusals) { testTwoContainers(r, others["two"]) })
	r.run("a class that does not exist", func(r *refusals) { testOldUnknownClass(r, others["unknown"]) })
	r.run("the default class", func(r *refusals) { testOldDefaultClass(r, others["default"]) })
	r.run("a class shrinks", testShrinkingClass)
	r.run("a class goes", testRemovedClass)
	r.run("children", testChildren)
	r.alwaysAnswered()
}

const keepsNetAdmin = `container "app" keeps NET_ADMIN, which runtime class "web" does not grant; what is removed cannot be added again`

// change patches the template of an object; fields is a path in its runtime.
func (r *refusals) change(kind string, o client.Object, operations string) answer {
	r.t.Helper()
	at := map[string]string{
		"Workload": "/spec/template/spec/runtime", "WorkloadDeployment": "/spec/template/spec/runtime", "Instance": "/spec/runtime",
	}[kind]
	return r.ask(func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, o, client.RawPatch(types.JSONPatchType, []byte(fmt.Sprintf(operations, at))))
	})
}

// Operations on the first container.
const (
	setImage = `[{"op":"replace","path":"%s/sandbox/containers/0/image","value":"app:2"}]`
	addsTo   = `[{"op":"replace","path":"%%s/sandbox/containers/%d/securityContext/capabilities/add","value":%s}]`
)

func setAddOf(container int, add string) string { return fmt.Sprintf(addsTo, container, add) }

func testOldChanges(r *refusals, kind string, o client.Object) {
	before := r.calls()
	r.must(r.patch(o, `{"metadata":{"labels":{"team":"blue"}}}`))
	r.must(r.patch(o, `{"metadata":{"finalizers":["example.com/hold"]}}`))
	switch kind {
	case "Workload":
		r.must(r.ask(func(ctx context.Context, c client.Client) error {
			w := o.(*computeapi.Workload)
			w.Spec.Placements[0].ScaleSettings.MinReplicas = 3
			return c.Update(ctx, w)
		}))
	case "WorkloadDeployment":
		r.must(r.scale(o, 2))
	}
	assert.Empty(r.t, since(before, r.calls()), "what leaves the runtime as it is")

	// The image is part of the runtime, so the webhook is asked.
	assert.Equal(r.t, accepted(keepsNetAdmin), r.change(kind, o, setImage))
	resource := map[string]string{"Workload": "workloads", "WorkloadDeployment": "workloaddeployments", "Instance": "instances"}[kind]
	assert.Equal(r.t, map[string]float64{resource + " kept": 1, webhookOf(kind): 1}, since(before, r.calls()))

	// By an update and by a server-side apply too, dry or not.
	require.NoError(r.t, r.customer.Get(r.ctx, client.ObjectKeyFromObject(o), o))
	next := r.plain(o)
	setImageOf(r, kind, next, "app:3")
	assert.Equal(r.t, accepted(keepsNetAdmin), r.ask(func(ctx context.Context, c client.Client) error {
		return c.Update(ctx, next.DeepCopy(), client.DryRunAll)
	}))
	assert.Equal(r.t, accepted(keepsNetAdmin), r.update(next))
	setImageOf(r, kind, next, "app:4")
	delete(next.Object, "status")
	assert.Equal(r.t, accepted(keepsNetAdmin), r.apply(next))

	// Allowed as well: to add what is granted beside it.
	assert.Equal(r.t, accepted(keepsNetAdmin), r.change(kind, o, setAddOf(0, `["NET_BIND_SERVICE","NET_ADMIN"]`)))

	r.must(r.delete(o))
	assert.True(r.t, r.exists(o), "it has a finalizer")
	r.must(r.patch(o, `{"metadata":{"finalizers":null}}`))
	assert.False(r.t, r.exists(o))
}

func testOldGrows(r *refusals, kind string, o client.Object) {
	// What the owner adds it may add as well, and that is what it adds already.
	refused := func(causes ...metav1.StatusCause) answer { return invalid(kind, o.GetName(), causes...) }
	no := func(container, entry int, name, instead string) metav1.StatusCause {
		return forbiddenIn(kind, container, entry, `capability "`+name+`" is not granted by runtime class "web", which grants NET_BIND_SERVICE; `+instead)
	}
	const (
		edge    = `runtime class "edge" grants everything this object adds`
		general = `runtime class "general-purpose" grants everything this object adds`
	)
	assert.Equal(r.t, refused(no(0, 0, "SYS_ADMIN", general)), r.change(kind, o, setAddOf(0, `["SYS_ADMIN","NET_ADMIN"]`)),
		"a new capability, and the kept one moves to another place")
	assert.Equal(r.t, refused(no(1, 0, "NET_ADMIN", edge)), r.change(kind, o,
		`[{"op":"add","path":"%s/sandbox/containers/-","value":{"name":"log","image":"log:1","securityContext":{"capabilities":{"add":["NET_ADMIN"]}}}}]`),
		"a second container")
	assert.Equal(r.t, refused(no(0, 0, "NET_ADMIN", edge)), r.change(kind, o,
		`[{"op":"replace","path":"%s/sandbox/containers/0/name","value":"other"}]`), "another name")
	assert.Equal(r.t, refused(forbiddenIn(kind, 0, 1, "ALL may not be added; list each capability")),
		r.change(kind, o, setAddOf(0, `["NET_ADMIN","ALL"]`)), "ALL")
	assert.Equal(r.t, refused(
		forbiddenIn(kind, 0, 0, `capability "NET_ADMIN" (written "CAP_NET_ADMIN") is not granted by runtime class "web", `+
			`which grants NET_BIND_SERVICE; `+edge)),
		r.change(kind, o, setAddOf(0, `["CAP_NET_ADMIN"]`)), "another spelling")
	assert.Equal(r.t, accepted(keepsNetAdmin), r.change(kind, o, setImage), "it is as it was")
}

func setImageOf(r *refusals, kind string, o interface{ UnstructuredContent() map[string]any }, image string) {
	r.t.Helper()
	at := o.UnstructuredContent()
	steps := []string{"spec", "template", "spec", "runtime", "sandbox"}
	if kind == "Instance" {
		steps = []string{"spec", "runtime", "sandbox"}
	}
	for _, step := range steps {
		at = at[step].(map[string]any)
	}
	at["containers"].([]any)[0].(map[string]any)["image"] = image
}

func testReclassed(r *refusals, w *computeapi.Workload) {
	class := func(name string) answer {
		return r.patch(w, `{"spec":{"template":{"spec":{"runtime":{"class":"`+name+`"}}}}}`)
	}
	assert.Equal(r.t, invalid("Workload", w.Name,
		forbidden(0, -1, `runtime class "unikernel" grants no capabilities; runtime class "edge" grants everything this object adds`)), class("unikernel"))
	r.must(class("edge"))
	assert.Equal(r.t, invalid("Workload", w.Name, forbidden(0, 0, `capability "NET_ADMIN" is not granted by runtime class "web", `+
		`which grants NET_BIND_SERVICE; runtime class "edge" grants everything this object adds`)), class("web"), "and back")

	// Removed, it may not come back.
	r.must(r.change("Workload", w, setAddOf(0, `[]`)))
	r.must(class("web"))
	assert.Equal(r.t, invalid("Workload", w.Name, forbidden(0, 0, `capability "NET_ADMIN" is not granted by runtime class "web", `+
		`which grants NET_BIND_SERVICE; runtime class "edge" grants everything this object adds`)), r.change("Workload", w, setAddOf(0, `["NET_ADMIN"]`)))
}

func testDropped(r *refusals, w *computeapi.Workload) {
	refused := invalid("Workload", w.Name, forbidden(0, 0, `capability "NET_ADMIN" is not granted by runtime class "web", `+
		`which grants NET_BIND_SERVICE; runtime class "edge" grants everything this object adds`))
	assert.Equal(r.t, refused, r.change("Workload", w, `[{"op":"remove","path":"%s/sandbox/containers/0/securityContext/capabilities/drop"}]`))
	r.must(r.patch(w, `{"metadata":{"labels":{"team":"blue"}}}`))
}

func testOldAll(r *refusals, w *computeapi.Workload) {
	assert.Equal(r.t, accepted(`container "app" keeps ALL, CAP_NET_ADMIN, which runtime class "web" does not grant; `+
		`what is removed cannot be added again`), r.change("Workload", w, setImage))
	assert.Equal(r.t, invalid("Workload", w.Name, forbidden(0, 2, `capability "SYS_ADMIN" is not granted by runtime class "web", `+
		`which grants NET_BIND_SERVICE; no runtime class grants everything this object adds`)),
		r.change("Workload", w, setAddOf(0, `["ALL","CAP_NET_ADMIN","SYS_ADMIN"]`)), "ALL stands for nothing else")
	assert.Equal(r.t, accepted(`container "app" keeps CAP_NET_ADMIN, which runtime class "web" does not grant; `+
		`what is removed cannot be added again`), r.change("Workload", w, setAddOf(0, `["CAP_NET_ADMIN"]`)))
	assert.Equal(r.t, invalid("Workload", w.Name, forbidden(0, 1, "ALL may not be added; list each capability")),
		r.change("Workload", w, setAddOf(0, `["CAP_NET_ADMIN","ALL"]`)))
}

func testTwoContainers(r *refusals, w *computeapi.Workload) {
	log := `container "log" keeps SYS_TIME, which runtime class "web" does not grant; what is removed cannot be added again`
	assert.Equal(r.t, accepted(keepsNetAdmin, log), r.change("Workload", w, setImage), "one warning for each container")
	// They may change places, and not what they add.
	swapped := w.DeepCopy()
	containers := swapped.Spec.Template.Spec.Runtime.Sandbox.Containers
	containers[0], containers[1] = containers[1], containers[0]
	assert.Equal(r.t, accepted(log, keepsNetAdmin), r.update(swapped))
	containers = swapped.Spec.Template.Spec.Runtime.Sandbox.Containers
	containers[0].Name, containers[1].Name = containers[1].Name, containers[0].Name
	assert.Equal(r.t, invalid("Workload", w.Name,
		forbidden(0, 0, `capability "SYS_TIME" is not granted by runtime class "web", which grants NET_BIND_SERVICE; `+
			`runtime class "general-purpose" grants everything this object adds`),
		forbidden(1, 0, `capability "NET_ADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; `+
			`runtime class "general-purpose" grants everything this object adds`)), r.update(swapped))
}

func testOldUnknownClass(r *refusals, w *computeapi.Workload) {
	assert.Equal(r.t, accepted(`container "app" keeps NET_ADMIN, though its runtime class cannot be told; what is removed cannot be added again`),
		r.change("Workload", w, setImage))
	assert.Equal(r.t, invalid("Workload", w.Name, metav1.StatusCause{
		Type: metav1.CauseTypeFieldValueNotSupported, Field: "spec.template.spec.runtime.class",
		Message: `Unsupported value: "nosuch": runtime class "nosuch" does not exist; there are "edge", "general-purpose", "unikernel", "web"`,
	}), r.change("Workload", w, setAddOf(0, `["NET_ADMIN","CHOWN"]`)))
}

// testOldDefaultClass: an empty class goes on being one and the same, though
// another class becomes the default; written out it is the same too.
func testOldDefaultClass(r *refusals, w *computeapi.Workload) {
	keeps := func(class string) answer {
		return accepted(`container "app" keeps NET_ADMIN, which runtime class "` + class + `" does not grant; what is removed cannot be added again`)
	}
	assert.Equal(r.t, keeps("unikernel"), r.change("Workload", w, setImage))
	assert.Equal(r.t, keeps("unikernel"), r.patch(w, `{"spec":{"template":{"spec":{"runtime":{"class":"unikernel"}}}}}`))
	assert.Equal(r.t, keeps("unikernel"), r.patch(w, `{"spec":{"template":{"spec":{"runtime":{"class":null}}}}}`))

	defer r.until(workload("settling", computeapi.WithAdd("NET_ADMIN")), invalid("Workload", "settling",
		forbidden(0, -1, `runtime class "unikernel" grants no capabilities; runtime class "edge" grants everything this object adds`)))
	defer r.setDefaults("unikernel")
	r.setDefaults("web")
	// Known live, and in memory, where what is kept is told from.
	r.until(workload("settling", computeapi.WithAdd("NET_ADMIN")), invalid("Workload", "settling",
		forbidden(0, 0, `capability "NET_ADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; `+
			`runtime class "edge" grants everything this object adds`)))
	r.until(workload("settling", computeapi.WithAdd("NET_BIND_SERVICE")), accepted())
	assert.Equal(r.t, keeps("web"), r.change("Workload", w, `[{"op":"replace","path":"%s/sandbox/containers/0/image","value":"app:5"}]`))
	assert.Equal(r.t, invalid("Workload", w.Name,
		forbidden(0, -1, `runtime class "unikernel" grants no capabilities; runtime class "edge" grants everything this object adds`)),
		r.patch(w, `{"spec":{"template":{"spec":{"runtime":{"class":"unikernel"}}}}}`), "the class that was the default")
}

// testShrinkingClass: accepted while the class granted it, kept when it does no
// more.
func testShrinkingClass(r *refusals) {
	defer func() {
		class := &computeapi.RuntimeClass{}
		class.Name = "shrinking"
		require.NoError(r.t, r.operator.Delete(r.ctx, class))
		r.inForce()
	}()
	r.publish(computeapi.NewRuntimeClass("shrinking", []string{"NET_ADMIN", "SYS_TIME", "SYSLOG"}))
	probe := workload("settling", computeapi.WithClass("shrinking"), computeapi.WithAdd("SYS_TIME"))
	r.until(probe, accepted())
	w := workload("shrunk", computeapi.WithClass("shrinking"), computeapi.WithAdd("NET_ADMIN", "SYS_TIME", "SYSLOG"))
	r.must(r.create(w))

	r.publish(computeapi.NewRuntimeClass("shrinking", []string{"NET_ADMIN"}))
	notTime := forbidden(0, 0, `capability "SYS_TIME" is not granted by runtime class "shrinking", which grants NET_ADMIN; `+
		`runtime class "general-purpose" grants everything this object adds`)
	r.until(probe, invalid("Workload", probe.Name, notTime))
	before := r.calls()
	r.must(r.patch(w, `{"metadata":{"labels":{"team":"blue"}}}`))
	r.must(r.replicas(w, 3))
	assert.Empty(r.t, since(before, r.calls()))
	assert.Equal(r.t, accepted(`container "app" keeps SYS_TIME, SYSLOG, which runtime class "shrinking" does not grant; `+
		`what is removed cannot be added again`), r.change("Workload", w, setImage))
	assert.Equal(r.t, accepted(`container "app" keeps SYS_TIME, which runtime class "shrinking" does not grant; `+
		`what is removed cannot be added again`), r.change("Workload", w, setAddOf(0, `["NET_ADMIN","SYS_TIME"]`)))
	assert.Equal(r.t, invalid("Workload", w.Name, forbidden(0, 2, `capability "SYSLOG" is not granted by runtime class "shrinking", `+
		`which grants NET_ADMIN; runtime class "general-purpose" grants everything this object adds`)),
		r.change("Workload", w, setAddOf(0, `["NET_ADMIN","SYS_TIME","SYSLOG"]`)), "added again after it was removed")

	// It loses the feature as well.
	r.publish(computeapi.NewRuntimeClass("shrinking", nil))
	r.until(probe, invalid("Workload", probe.Name,
		forbidden(0, -1, `runtime class "shrinking" grants no capabilities; runtime class "general-purpose" grants everything this object adds`)))
	assert.Equal(r.t, accepted(`container "app" keeps NET_ADMIN, SYS_TIME, which runtime class "shrinking" does not grant; `+
		`what is removed cannot be added again`), r.change("Workload", w, `[{"op":"replace","path":"%s/sandbox/containers/0/image","value":"app:3"}]`))
	assert.Equal(r.t, invalid("Workload", w.Name,
		forbidden(0, -1, `runtime class "shrinking" grants no capabilities; runtime class "general-purpose" grants everything this object adds`)),
		r.change("Workload", w, setAddOf(0, `["NET_ADMIN","SYS_TIME","CHOWN"]`)))
}

// testRemovedClass: what is stored under a class that is no more may change and
// not grow.
func testRemovedClass(r *refusals) {
	class := computeapi.NewRuntimeClass("leaving", []string{"NET_ADMIN"})
	r.publish(class)
	probe := workload("settling", computeapi.WithClass("leaving"), computeapi.WithAdd("NET_ADMIN"))
	r.until(probe, accepted())
	w := workload("left", computeapi.WithClass("leaving"), computeapi.WithAdd("NET_ADMIN"))
	r.must(r.create(w))

	require.NoError(r.t, r.operator.Delete(r.ctx, class))
	gone := metav1.StatusCause{
		Type: metav1.CauseTypeFieldValueNotSupported, Field: "spec.template.spec.runtime.class",
		Message: `Unsupported value: "leaving": runtime class "leaving" does not exist; there are "edge", "general-purpose", "unikernel", "web"`,
	}
	r.until(probe, invalid("Workload", probe.Name, gone))
	r.must(r.patch(w, `{"metadata":{"labels":{"team":"blue"}}}`))
	assert.Equal(r.t, accepted(`container "app" keeps NET_ADMIN, though its runtime class cannot be told; what is removed cannot be added again`),
		r.change("Workload", w, setImage))
	assert.Equal(r.t, invalid("Workload", w.Name, gone), r.change("Workload", w, setAddOf(0, `["NET_ADMIN","CHOWN"]`)))
}
