package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// Beside the platform: what was let through has its children, and with the
// webhook down nothing stands still but what cannot be judged.
func TestRefusalBesideThePlatform(t *testing.T) {
	r := startRefusals(t, environment.Options{
		Without:  []string{environment.Refusal},
		Platform: &platform.Options{Parallel: true},
	})
	// It makes no children before the configuration is there to refuse them.
	r.Platform.Workload.Pause()
	old := workload("old", computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN"), computeapi.WithPlacement("main", 2, "us"))
	r.must(r.create(old))
	require.NoError(t, r.InstallLeftOut(r.ctx))
	r.inForce()
	r.Platform.Workload.Resume()

	r.run("what was let through has children", func(r *refusals) { testLetThroughRollsOut(r, old) })
	r.run("what is granted has children", testGrantedRollsOut)
	r.run("a class that shrinks in the midst of it", testShrinkingRollsOut)
	r.run("the process is down", testProcessDown)
}

// rolledOut waits until a Workload has so many Instances, of that image and
// adding that, all ready, and no others.
func (r *refusals) rolledOut(name, image string, replicas int, add ...string) {
	r.t.Helper()
	r.waitFor(fmt.Sprintf("%d Instances of %s with %s", replicas, name, image), func() (bool, string) {
		d := r.deploymentOf(name, "main")
		if d == nil {
			return false, "no deployment"
		}
		var list computeapi.InstanceList
		require.NoError(r.t, r.customer.List(r.ctx, &list, client.InNamespace(namespace),
			client.MatchingLabels{computeapi.WorkloadNameLabel: name}))
		var seen []string
		good := 0
		for _, i := range list.Items {
			c := i.Spec.Runtime.Sandbox.Containers[0]
			ready := saysOf(i.Status.Conditions, computeapi.ReadyCondition)
			seen = append(seen, fmt.Sprintf("%s %s %v %s", i.Name, c.Image, adds(c), ready.Status))
			if c.Image == image && slices.Equal(adds(c), add) && ready.Status == metav1.ConditionTrue && i.DeletionTimestamp.IsZero() {
				good++
			}
		}
		c := d.Spec.Template.Spec.Runtime.Sandbox.Containers[0]
		return good == replicas && len(list.Items) == replicas && c.Image == image && slices.Equal(adds(c), add), strings.Join(seen, ", ")
	})
}

func adds(c computeapi.Container) []string {
	if c.SecurityContext == nil || c.SecurityContext.Capabilities == nil {
		return nil
	}
	return c.SecurityContext.Capabilities.Add
}

func testLetThroughRollsOut(r *refusals, w *computeapi.Workload) {
	image := w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image
	before := r.calls()
	r.rolledOut(w.Name, image, 2, "NET_ADMIN")
	got := since(before, r.calls())
	assert.Zero(r.t, got["workloaddeployments refused"])
	assert.Zero(r.t, got["instances refused"])
	assert.NotZero(r.t, got["workloaddeployments kept"], "its deployment was asked about")
	assert.NotZero(r.t, got["instances kept"], "its Instances were asked about")

	// A new image is rolled out, and a scaled deployment gets more.
	assert.Equal(r.t, accepted(keepsNetAdmin), r.change("Workload", w, setImage))
	r.rolledOut(w.Name, "app:2", 2, "NET_ADMIN")
	r.must(r.scale(r.deploymentOf(w.Name, "main"), 3))
	r.rolledOut(w.Name, "app:2", 3, "NET_ADMIN")

	// What its author takes away goes, and nothing is left to copy it from.
	r.must(r.change("Workload", w, setAddOf(0, `["NET_BIND_SERVICE"]`)))
	r.rolledOut(w.Name, "app:2", 3, "NET_BIND_SERVICE")
	refused := `capability "NET_ADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; runtime class "edge" grants everything this object adds`
	assert.Equal(r.t, invalid("Workload", w.Name, forbidden(0, 0, refused)), r.change("Workload", w, setAddOf(0, `["NET_ADMIN"]`)))
	d := r.deploymentOf(w.Name, "main")
	assert.Equal(r.t, invalid("WorkloadDeployment", d.Name, forbiddenIn("WorkloadDeployment", 0, 0, refused)),
		r.change("WorkloadDeployment", d, setAddOf(0, `["NET_ADMIN"]`)))
	i := get(r.scene, instance(d.Name, 0).Name, &computeapi.Instance{})
	assert.Equal(r.t, invalid("Instance", i.Name, forbiddenIn("Instance", 0, 0, refused)),
		r.change("Instance", i, setAddOf(0, `["NET_ADMIN"]`)))
	r.must(r.delete(w))
	r.waitFor("its children to go with it", func() (bool, string) { return r.deploymentOf(w.Name, "main") == nil, "there" })
}

func testGrantedRollsOut(r *refusals) {
	w := workload("granted", computeapi.WithClass("edge"), computeapi.WithAdd("NET_ADMIN"), computeapi.WithImage("app:1"))
	r.must(r.create(w))
	r.rolledOut(w.Name, "app:1", 1, "NET_ADMIN")
}

// testShrinkingRollsOut: the class shrinks after the Workload was accepted and
// before it has all its children.
func testShrinkingRollsOut(r *refusals) {
	r.publish(computeapi.NewRuntimeClass("shrinking", []string{"SYS_TIME", "SYSLOG"}))
	probe := workload("settling", computeapi.WithClass("shrinking"), computeapi.WithAdd("SYS_TIME"))
	r.until(probe, accepted())
	w := workload("shrunk", computeapi.WithClass("shrinking"), computeapi.WithAdd("SYS_TIME"), computeapi.WithImage("app:1"))
	r.must(r.create(w))
	r.rolledOut(w.Name, "app:1", 1, "SYS_TIME")

	r.publish(computeapi.NewRuntimeClass("shrinking", []string{"SYSLOG"}))
	r.until(probe, invalid("Workload", probe.Name, forbidden(0, 0,
		`capability "SYS_TIME" is not granted by runtime class "shrinking", which grants SYSLOG; runtime class "general-purpose" grants everything this object adds`)))
	r.must(r.scale(r.deploymentOf(w.Name, "main"), 2))
	r.rolledOut(w.Name, "app:1", 2, "SYS_TIME")

	// An Instance that somebody deletes comes back, and so does a deployment.
	i := get(r.scene, instance(r.deploymentOf(w.Name, "main").Name, 1).Name, &computeapi.Instance{})
	r.must(r.delete(i))
	r.waitFor("the Instance to be made anew", func() (bool, string) {
		anew := &computeapi.Instance{}
		err := r.customer.Get(r.ctx, client.ObjectKeyFromObject(i), anew)
		return err == nil && anew.UID != i.UID, fmt.Sprint(err)
	})
	d := r.deploymentOf(w.Name, "main")
	r.must(r.delete(d))
	r.waitFor("the deployment to be made anew", func() (bool, string) {
		anew := r.deploymentOf(w.Name, "main")
		return anew != nil && anew.UID != d.UID, "not yet"
	})
	r.rolledOut(w.Name, "app:1", 1, "SYS_TIME")
}

// pausePlatform stops its controllers between two passes.
func (r *refusals) pausePlatform() (resume func()) {
	p := r.Platform
	all := []*platform.Controller{p.Workload, p.Deployment, p.Instance, p.Provider.Controller, p.GarbageCollector}
	for _, c := range all {
		c.Pause()
	}
	return func() {
		for _, c := range all {
			c.Resume()
		}
	}
}

func testProcessDown(r *refusals) {
	w := workload("down-changes", computeapi.WithClass("edge"), computeapi.WithAdd("NET_ADMIN"), computeapi.WithImage("app:1"))
	r.must(r.create(w))
	r.rolledOut(w.Name, "app:1", 1, "NET_ADMIN")
	// The platform would tidy up what is made here by hand.
	resume := r.pausePlatform()
	family := r.family("down", computeapi.WithClass("web"), computeapi.WithAdd("NET_BIND_SERVICE"))

	r.RefusalFront.Active().Kill()
	defer func() {
		_, err := r.StartWebhookWith(r.ctx)
		require.NoError(r.t, err)
		r.until(workload("settling", computeapi.WithClass("web"), computeapi.WithAdd("NET_ADMIN")), invalid("Workload", "settling",
			forbidden(0, 0, `capability "NET_ADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; `+
				`runtime class "edge" grants everything this object adds`)))
	}()
	// unanswered is what the API server says in the webhook's place. Its end, how
	// the connection failed, is the network's.
	unanswered := func(r *refusals, got answer) {
		r.t.Helper()
		require.NotNil(r.t, got.Status)
		url := fmt.Sprintf("%s/validate-compute-datumapis-com-v1alpha-workload?timeout=5s", r.RefusalFront.URL())
		begin := fmt.Sprintf(`Internal error occurred: failed calling webhook "workloads.capabilities.causeway.dev": failed to call webhook: Post %q: `, url)
		assert.True(r.t, strings.HasPrefix(got.Status.Message, begin), got.Status.Message)
		assert.EqualValues(r.t, http.StatusInternalServerError, got.Status.Code)
		assert.Equal(r.t, metav1.StatusReasonInternalError, got.Status.Reason)
		assert.Empty(r.t, got.Warnings)
	}

	r.run("a Workload that adds", func(r *refusals) {
		for way, send := range ways {
			r.run(way, func(r *refusals) {
				unanswered(r, send(r, workload(objectName(r.t.Name()), computeapi.WithClass("web"), computeapi.WithAdd("NET_BIND_SERVICE"))))
			})
		}
		unanswered(r, r.change("Workload", w.DeepCopy(), setImage))
		assert.Equal(r.t, "app:1", get(r.scene, w.Name, &computeapi.Workload{}).Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image)
	})
	r.run("its children that add", func(r *refusals) {
		// Even what would be refused: it was judged as a Workload.
		greedy := w.DeepCopy()
		setAdd(greedy, 0, "SYS_ADMIN")
		d := deploymentFor(greedy, "down-child")
		r.must(r.create(d))
		i := instanceFor(d, "down-child")
		r.must(r.create(i))
		r.must(r.change("Instance", i, setImage))
		r.must(r.change("WorkloadDeployment", d, setImage))
		r.must(r.delete(i))
		r.must(r.delete(d))
	})
	for _, kind := range []string{"Instance", "WorkloadDeployment", "Workload"} {
		r.run("labels, finalizers, status, replicas and deletion of "+kind, func(r *refusals) { r.unjudged(kind, family[kind]) })
	}
	r.run("a Workload that adds nothing", func(r *refusals) {
		for way, send := range ways {
			r.run(way, func(r *refusals) {
				r.must(send(r, workload(objectName(r.t.Name()), computeapi.WithClass("web"), computeapi.WithDrop("ALL"))))
			})
		}
	})
	resume()
	r.run("its children", func(r *refusals) {
		plain := workload("down-plain", computeapi.WithImage("app:1"))
		r.must(r.create(plain))
		r.rolledOut(plain.Name, "app:1", 1)
		r.must(r.change("Workload", plain, setImage))
		r.rolledOut(plain.Name, "app:2", 1)
	})
	r.run("what is stored scales and is deleted", func(r *refusals) {
		r.must(r.replicas(w, 2))
		r.rolledOut(w.Name, "app:1", 2, "NET_ADMIN")
		r.must(r.change("Workload", w, setAddOf(0, `[]`)))
		r.rolledOut(w.Name, "app:1", 2)
		r.must(r.delete(w))
		r.waitFor("its children to go with it", func() (bool, string) { return r.deploymentOf(w.Name, "main") == nil, "there" })
	})
}
