package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

const crashDetailOfPod = `container "app" has exited and restarted 3 times without staying up for 5 minutes. Its last exit was with code 1.`

// crashedWith is what all three say of that crash; the Workload goes on with the
// hint about these capabilities, if there are any.
func crashedWith(capabilities ...string) (instance, deployment, workload said) {
	instance = said{metav1.ConditionFalse, "InstanceCrashing", crashDetailOfPod}
	deployment = said{metav1.ConditionFalse, "InstanceCrashing", "1 of 1 instances is repeatedly exiting and restarting: " + crashDetailOfPod}
	workload = deployment
	if len(capabilities) > 0 {
		workload.Message += ` Container "app" runs without capabilities that runtime class "general-purpose" currently grants by default: ` +
			strings.Join(capabilities, ", ") + `. If the image needs one, add it to the container's capabilities. ` +
			`This is not evidence that capabilities caused the crash.`
	}
	return instance, deployment, workload
}

// firstRun is a container that was started a moment ago, and is not ready yet.
func firstRun() corev1.PodStatus {
	return app(0, false, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(time.Second)}}, corev1.ContainerState{})
}

// startHints is a cell whose Workload follows the hardening guides: it drops ALL
// and adds one capability, so that its class's defaults are not added.
func startHints(t *testing.T) *podScene {
	p := podSceneOf(start(t, environment.Options{
		// Of the half that may not read classes but by the component.
		DeployOverlay: "status-only", Components: []string{"observe-pods", "capability-hint"}, Statuspatch: 2,
		StatuspatchArgs: []string{"--observe-pods", "--capability-hint", "--start-grace=3s"},
		Platform:        &platform.Options{Parallel: true},
	}), computeapi.WithClass("general-purpose"), computeapi.WithDrop("ALL"), computeapi.WithAdd("NET_BIND_SERVICE"))
	// What providers make of it.
	p.security = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{
		Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"NET_BIND_SERVICE"}}}
	return p
}

// renew puts a new Pod in the place of the old one.
func (p *podScene) renew(status corev1.PodStatus) {
	p.t.Helper()
	require.NoError(p.t, p.kubelet.Delete(p.ctx, p.pod, client.GracePeriodSeconds(0)))
	p.createPod(status)
}

// grant has the class general-purpose grant these by default, and nothing else.
func (p *podScene) grant(capabilities ...string) {
	p.t.Helper()
	class := &computeapi.RuntimeClass{}
	require.NoError(p.t, p.customer.Get(p.ctx, types.NamespacedName{Name: "general-purpose"}, class))
	class.Spec.Capabilities.GrantableCapabilities = append([]string{"NET_BIND_SERVICE"}, capabilities...)
	class.Spec.DefaultSecurityContext.Capabilities.Add = capabilities
	require.NoError(p.t, p.customer.Update(p.ctx, class))
}

func (p *podScene) saysOnTheWorkload(want said, when string) {
	p.t.Helper()
	p.waitFor("the Workload to say so "+when, func() (bool, string) {
		says := p.workloadSays("api")
		return says == want, says.Message
	})
}

// The hint comes with the crash, in the same write; stays while others write,
// and over a change of processes; follows the class; and goes on recovery and
// with the flag.
func TestTheHintAboutCapabilities(t *testing.T) {
	p := startHints(t)
	p.createPod(firstRun())
	lacked := []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETFCAP", "SETGID", "SETPCAP", "SETUID"}
	instance, deployment, workload := crashedWith(lacked...)
	p.follow(crashLoop(3, ended("Error", 1, "")), instance, deployment, workload)
	t.Logf("the Workload says: %s", p.workloadSays("api").Message)
	for _, placement := range get(p.scene, "api", &computeapi.Workload{}).Status.Placements {
		assert.Equal(t, deployment, saysOf(placement.Conditions, computeapi.AvailableCondition), "the placement has none")
	}

	// The writers below take the place of the platform's controllers, once the
	// last of these has followed.
	p.waitFor("the Instance's Ready to follow", func() (bool, string) {
		says := saysOf(get(p.scene, p.key.Name, &computeapi.Instance{}).Status.Conditions, computeapi.ReadyCondition)
		return says.Status != metav1.ConditionTrue, says.Message
	})
	paused := []interface {
		Pause()
		Resume()
	}{p.Platform.Provider, p.Platform.Instance, p.Platform.Deployment, p.Platform.Workload}
	for _, controller := range paused {
		controller.Pause()
	}
	p.in("200 writes of three controllers store nothing", func(*scene) {
		r := p.rude(p.deployment)
		styles := r.styles()
		r.write(styles[0], provisioning) // the first may take the list over
		before := p.versions(p.deployment, "api")
		for n := range 200 {
			d, w := r.write(styles[(n+1)%len(styles)], provisioning)
			require.Equal(t, [2]said{deployment, workload}, [2]said{d, w}, "after write %d", n)
		}
		assert.Equal(t, before, p.versions(p.deployment, "api"))
	})

	_, _, less := crashedWith("CHOWN", "SETUID")
	p.in("a standby that takes over knows it", func(*scene) {
		versions := p.versionsSeen("api")
		p.inOrder(p.StatusFront.Active())
		p.grant("CHOWN", "SETUID")
		p.saysOnTheWorkload(less, "when the class grants less")
		assert.LessOrEqual(t, versions(), 1, "what the class changed: the hint was never taken away in between")
	})
	for _, controller := range paused {
		controller.Resume()
	}

	p.in("it follows the class", func(*scene) {
		p.grant("NET_RAW")
		_, _, other := crashedWith("NET_RAW")
		p.saysOnTheWorkload(other, "when it grants another one")
		p.grant()
		p.saysOnTheWorkload(deployment, "when it grants none")
		p.grant("CHOWN", "SETUID")
		p.saysOnTheWorkload(less, "when it grants them again")
	})

	p.in("it goes on recovery, and comes with the next crash", func(*scene) {
		p.follow(app(3, true, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(30 * time.Second)}}, ended("Error", 1, "")),
			instanceWell, deploymentWell, workloadWell)
		crash, alike, again := crashedWith("CHOWN", "SETUID")
		for _, v := range []*said{&crash, &alike, &again} {
			v.Message = strings.Replace(v.Message, "3 times", "5 times", 1)
		}
		p.follow(crashLoop(5, ended("Error", 1, "")), crash, alike, again)
	})

	p.in("it goes with the flag", func(*scene) {
		alike := p.deploymentSays(p.deployment)
		old := p.StatusFront.Active()
		_, err := p.StartSidecar(p.ctx, "--capability-hint=false")
		require.NoError(t, err)
		p.inOrder(old)
		p.saysOnTheWorkload(alike, "without the flag")
	})
}

// The hint is known before the write that tells of a crash, so what that write
// says is the answer.
func TestNoHintWithoutACrashAtStartup(t *testing.T) {
	p := startHints(t)
	instance, told, hinted := crashedWith("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETFCAP", "SETGID", "SETPCAP", "SETUID")

	p.createPod(up(0)) // for an hour
	p.in("a container that once stayed up for 5 minutes", func(*scene) {
		p.follow(crashLoop(3, ended("Error", 1, "")), instance, told, told)
	})
	for name, tc := range map[string]struct {
		security *corev1.SecurityContext
		want     said
	}{
		"a container that has all its class grants":       {nil, told},
		"the same, hardened, does get one: the other way": {p.security, hinted},
	} {
		p.in(name, func(*scene) {
			p.security = tc.security
			p.renew(up(0))
			p.waitFor("recovery", func() (bool, string) { says := p.workloadSays("api"); return says == workloadWell, says.Message })
			p.renew(firstRun())
			p.follow(crashLoop(3, ended("Error", 1, "")), instance, told, tc.want)
		})
	}
}
