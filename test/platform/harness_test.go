package platform_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/crds"
	"github.com/causeway-webhook/causeway/test/install"
	"github.com/causeway-webhook/causeway/test/platform"
)

// shared is the control plane of all tests, with the CRDs and the RBAC of the
// platform. One platform at a time runs on it: two would undo each other.
var shared *controlplane.ControlPlane

func TestMain(m *testing.M) {
	// Else controller-runtime prints a stack because nobody chose a logger.
	log.SetLogger(logr.FromSlogHandler(slog.DiscardHandler))
	os.Exit(controlplane.RunTests(m, func(ctx context.Context, cp *controlplane.ControlPlane) error {
		shared = cp
		objects, err := crds.Objects()
		if err != nil {
			return err
		}
		if err := install.Install(ctx, cp.AdminConfig(), objects, install.Options{}); err != nil {
			return err
		}
		return platform.InstallRBAC(ctx, cp.AdminConfig())
	}))
}

func platformConfig(user string) *rest.Config { return shared.Config(user) }

// world is a running platform and a customer's view of it.
type world struct {
	*platform.Platform
	t      *testing.T
	ctx    context.Context
	client client.Client
	// namespace is the one in use; inNamespace moves to another.
	namespace string
}

// start runs a platform for one test. At its end every Workload is deleted, and
// with them all that was made of them.
func start(t *testing.T, tweaks ...func(*platform.Options)) *world {
	t.Helper()
	options := platform.Options{Config: platformConfig}
	for _, tweak := range tweaks {
		tweak(&options)
	}
	p, err := platform.Start(context.Background(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop()) })

	c, err := client.New(shared.AdminConfig(), client.Options{Scheme: computeapi.NewScheme(), Mapper: computeapi.NewRESTMapper()})
	require.NoError(t, err)
	w := (&world{Platform: p, t: t, ctx: t.Context(), client: c}).inNamespace(t)
	return w
}

// inNamespace returns the world as seen by a test of its own in a new namespace.
func (w *world) inNamespace(t *testing.T) *world {
	t.Helper()
	set, err := kubernetes.NewForConfig(shared.AdminConfig())
	require.NoError(t, err)
	ns, err := set.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	require.NoError(t, err)

	here := *w
	here.t, here.ctx, here.namespace = t, t.Context(), ns.Name
	t.Cleanup(here.tidy)
	return &here
}

// tidy deletes the Workloads of the namespace and waits for the platform to
// collect everything else.
func (w *world) tidy() {
	w.ctx = context.Background() // that of the test has ended
	for _, c := range []*platform.Controller{w.Workload, w.Deployment, w.Instance, w.Provider.Controller, w.Federator, w.GarbageCollector} {
		c.Resume()
	}
	require.NoError(w.t, w.client.DeleteAllOf(w.ctx, &computeapi.Workload{}, client.InNamespace(w.namespace)))
	w.eventually("everything is collected", func() error {
		if n := len(w.instances()) + len(w.deployments()); n > 0 {
			return fmt.Errorf("%d objects left", n)
		}
		return nil
	})
}

// eventually waits until check holds.
func (w *world) eventually(what string, check func() error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			w.t.Fatalf("waiting until %s: %v", what, err)
		case <-tick.C:
		}
	}
}

// workload creates a Workload of one placement, "main", at "us".
func (w *world) workload(name string, replicas int32, tweaks ...computeapi.WorkloadTweak) types.NamespacedName {
	w.t.Helper()
	if replicas > 0 {
		tweaks = append(tweaks, computeapi.WithPlacement("main", replicas, "us"))
	}
	workload := computeapi.NewWorkload(w.namespace, name, tweaks...)
	require.NoError(w.t, w.client.Create(w.ctx, workload))
	return client.ObjectKeyFromObject(workload)
}

func (w *world) deployments() []computeapi.WorkloadDeployment {
	w.t.Helper()
	var list computeapi.WorkloadDeploymentList
	require.NoError(w.t, w.client.List(w.ctx, &list, client.InNamespace(w.namespace)))
	return list.Items
}

func (w *world) instances() []computeapi.Instance {
	w.t.Helper()
	var list computeapi.InstanceList
	require.NoError(w.t, w.client.List(w.ctx, &list, client.InNamespace(w.namespace)))
	return list.Items
}

// onlyDeployment waits for the one deployment of the namespace.
func (w *world) onlyDeployment() types.NamespacedName {
	w.t.Helper()
	var key types.NamespacedName
	w.eventually("there is one deployment", func() error {
		list := w.deployments()
		if len(list) != 1 {
			return fmt.Errorf("there are %d", len(list))
		}
		key = client.ObjectKeyFromObject(&list[0])
		return nil
	})
	return key
}

// instanceKeys waits for that many Instances, and returns them by name.
func (w *world) instanceKeys(n int) []types.NamespacedName {
	w.t.Helper()
	var keys []types.NamespacedName
	w.eventually(fmt.Sprintf("there are %d instances", n), func() error {
		keys = nil
		for _, instance := range w.instances() {
			keys = append(keys, client.ObjectKeyFromObject(&instance))
		}
		if len(keys) != n {
			return fmt.Errorf("there are %d", len(keys))
		}
		return nil
	})
	return keys
}

// get reads one object from the API server.
func get[T any, P interface {
	*T
	client.Object
}](w *world, key types.NamespacedName) P {
	w.t.Helper()
	obj := P(new(T))
	require.NoError(w.t, w.client.Get(w.ctx, key, obj))
	return obj
}

func (w *world) getInstance(key types.NamespacedName) *computeapi.Instance {
	w.t.Helper()
	return get[computeapi.Instance](w, key)
}

func (w *world) getDeployment(key types.NamespacedName) *computeapi.WorkloadDeployment {
	w.t.Helper()
	return get[computeapi.WorkloadDeployment](w, key)
}

func (w *world) getWorkload(key types.NamespacedName) *computeapi.Workload {
	w.t.Helper()
	return get[computeapi.Workload](w, key)
}

// untilSays waits until a condition reads as wanted.
func (w *world) untilSays(want string, conditionType string, conditions func() []metav1.Condition) {
	w.t.Helper()
	w.eventually(conditionType+" says "+want, func() error {
		if got := computeapi.Summary(conditions(), conditionType); got != want {
			return fmt.Errorf("it says %q", got)
		}
		return nil
	})
}

func (w *world) untilInstance(key types.NamespacedName, conditionType, want string) {
	w.t.Helper()
	w.untilSays(want, conditionType, func() []metav1.Condition { return w.getInstance(key).Status.Conditions })
}

func (w *world) untilDeployment(key types.NamespacedName, conditionType, want string) {
	w.t.Helper()
	w.untilSays(want, conditionType, func() []metav1.Condition { return w.getDeployment(key).Status.Conditions })
}

func (w *world) untilWorkload(key types.NamespacedName, want string) {
	w.t.Helper()
	w.untilSays(want, computeapi.AvailableCondition, func() []metav1.Condition { return w.getWorkload(key).Status.Conditions })
}

// settleDeployment waits until the deployment controller has finished a pass
// that saw the Instance as it is now: it stamps a label that was taken off, and
// when it stamps it a second time the first pass is over.
func (w *world) settleDeployment(instance types.NamespacedName) {
	w.t.Helper()
	for range 2 {
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:null}}}`, computeapi.ServiceNameLabel)
		require.NoError(w.t, w.client.Patch(w.ctx, w.getInstance(instance), client.RawPatch(types.MergePatchType, patch)))
		w.eventually("the label is stamped again", func() error {
			if w.getInstance(instance).Labels[computeapi.ServiceNameLabel] == "" {
				return fmt.Errorf("it is not")
			}
			return nil
		})
	}
}
