package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// podScene is a cell with one Instance and its Pod. There is no kubelet: the
// test says what one would.
type podScene struct {
	*scene
	kubelet    client.Client
	deployment string
	key        types.NamespacedName
	pod        *corev1.Pod
	// security is the container's in Pods that are created from now on.
	security *corev1.SecurityContext
}

func startPods(t *testing.T) *podScene {
	p := podSceneOf(start(t, environment.Options{
		Components: []string{"observe-pods"}, Statuspatch: 1,
		StatuspatchArgs: []string{"--observe-pods", "--start-grace=3s", "--schedule-grace=1s"},
		Platform:        &platform.Options{Parallel: true},
	}))
	p.createPod(up(0))
	return p
}

// podSceneOf has the Workload made; its Pod is the caller's to create.
func podSceneOf(s *scene, tweaks ...computeapi.WorkloadTweak) *podScene {
	p := &podScene{scene: s}
	var err error
	p.kubelet, err = s.Client(controlplane.Installer)
	require.NoError(s.t, err)
	tweaks = append(tweaks, computeapi.WithPlacement("main", 1, "us"))
	p.deployment = s.provision(computeapi.NewWorkload(namespace, "api", tweaks...), 1)
	p.key = instance(p.deployment, 0)
	return p
}

// createPod makes the Instance's Pod as providers do, and has the kubelet report.
func (p *podScene) createPod(status corev1.PodStatus) {
	p.t.Helper()
	i := get(p.scene, p.key.Name, &computeapi.Instance{})
	p.pod = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: p.key.Name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(i, computeapi.GroupVersion.WithKind("Instance"))}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "r.example/app:1", SecurityContext: p.security,
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: quantity("256Mi")}}}}},
	}
	require.NoError(p.t, p.kubelet.Create(p.ctx, p.pod))
	p.reports(status)
}

// reports writes the Pod's status as a kubelet does.
func (p *podScene) reports(status corev1.PodStatus) {
	p.t.Helper()
	p.pod.Status = status
	require.NoError(p.t, p.kubelet.Status().Update(p.ctx, p.pod))
}

// available reads the Instance's Available, live.
func (p *podScene) available() said {
	p.t.Helper()
	return saysOf(get(p.scene, p.key.Name, &computeapi.Instance{}).Status.Conditions, computeapi.AvailableCondition)
}

// hops are how long after the Pod's status was stored each object told it.
type hops struct {
	began                          time.Time
	instance, deployment, workload time.Duration
}

func (h hops) String() string {
	ms := func(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }
	return fmt.Sprintf("instance %s, deployment %s, workload %s", ms(h.instance), ms(h.deployment), ms(h.workload))
}

// follow has the kubelet report and waits until all three objects say what is
// wanted, each looked at by itself.
func (p *podScene) follow(status corev1.PodStatus, instance, deployment, workload said) hops {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	p.reports(status)
	began := time.Now()
	type arrival struct {
		what string
		took time.Duration
		last said
	}
	arrivals := make(chan arrival)
	look := func(what string, want said, o client.Object, conditions func() []metav1.Condition, name string) {
		var last said
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for ; ctx.Err() == nil; <-tick.C {
			if err := p.customer.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, o); err == nil {
				if last = saysOf(conditions(), computeapi.AvailableCondition); last == want {
					arrivals <- arrival{what, time.Since(began), last}
					return
				}
			}
		}
		arrivals <- arrival{what, -1, last}
	}
	i, d, w := &computeapi.Instance{}, &computeapi.WorkloadDeployment{}, &computeapi.Workload{}
	go look("instance", instance, i, func() []metav1.Condition { return i.Status.Conditions }, p.key.Name)
	go look("deployment", deployment, d, func() []metav1.Condition { return d.Status.Conditions }, p.deployment)
	go look("workload", workload, w, func() []metav1.Condition { return w.Status.Conditions }, "api")
	took := map[string]time.Duration{}
	for range 3 {
		a := <-arrivals
		if a.took < 0 {
			p.t.Errorf("the %s never said what the Pod says, but %+v", a.what, a.last)
		}
		took[a.what] = a.took
	}
	if p.t.Failed() {
		p.t.FailNow()
	}
	return hops{began, took["instance"], took["deployment"], took["workload"]}
}
