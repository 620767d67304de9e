package deploy

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"

	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/install"
)

// running is a control plane of its own with everything a kustomization renders, and its Pod's containers run as
// processes: with the arguments and as the account it renders, in place of a kubelet.
type running struct {
	*controlplane.ControlPlane
	objects    []*unstructured.Unstructured
	deployment *appsv1.Deployment
	account    *rest.Config
	kubeconfig string
	certDir    string
	options    install.Options
	// Stand-ins for the two Services, by their base names.
	fronts    map[string]*environment.Balancer
	processes map[string][]*environment.Process
}

// started installs a kustomization, with webhooks answered by the stand-ins, and starts no process yet.
func started(t *testing.T, dir string, options controlplane.Options) *running {
	t.Helper()
	r := newRunning(t, options)
	r.install(t, dir, r.options)
	return r
}

// newRunning has the compute API and stand-ins for the Services, and nothing of Causeway's yet.
func newRunning(t *testing.T, options controlplane.Options) *running {
	t.Helper()
	r := &running{fronts: map[string]*environment.Balancer{}, processes: map[string][]*environment.Process{}}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var err error
	r.ControlPlane, err = controlplane.Start(ctx, options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.ControlPlane.Stop()) })

	compute, err := install.Render(filepath.Join("..", "crds"))
	require.NoError(t, err)
	require.NoError(t, install.Install(ctx, r.AdminConfig(), compute, install.Options{}))
	r.certDir = t.TempDir()
	cert, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(r.certDir, "tls.crt"), cert, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(r.certDir, "tls.key"), key, 0o600))
	for name, rotation := range map[string]environment.Rotation{"causeway-webhook": environment.ByReady, "causeway-status": environment.ByActive} {
		r.fronts[name], err = environment.StartBalancer(rotation)
		require.NoError(t, err)
		t.Cleanup(r.fronts[name].Stop)
	}
	r.options = install.Options{CABundle: cert, WebhookURL: func(service string) string {
		for name, front := range r.fronts {
			if strings.HasSuffix(service, name) { // a prefix may stand before it
				return front.URL()
			}
		}
		return ""
	}}
	return r
}

// install puts in what a kustomization renders.
func (r *running) install(t *testing.T, dir string, options install.Options) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var err error
	r.objects = rendered(t, dir)
	require.NoError(t, install.Install(ctx, r.AdminConfig(), r.objects, options))
	r.deployment = &appsv1.Deployment{}
	convert(t, one(t, r.objects, "Deployment"), r.deployment)
	r.account, err = r.ServiceAccountConfig(ctx, r.deployment.Namespace, r.deployment.Spec.Template.Spec.ServiceAccountName)
	require.NoError(t, err)
	r.kubeconfig = kubeconfigFor(t, r.account)
}

// start runs one container of the Pod once more, and returns when it is ready.
func (r *running) start(t *testing.T, container string, args ...string) *environment.Process {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	return r.startBinary(t, path, container, args...)
}

func (r *running) startBinary(t *testing.T, path, container string, args ...string) *environment.Process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all := append(arguments(t, r.deployment, container), "--kubeconfig="+r.kubeconfig, "--cert-dir="+r.certDir, "--shutdown-delay=0s")
	if container == "statuspatch" {
		all = append(all, "--advertise-address=192.0.2.7")
	}
	p, err := environment.StartProcess(ctx, container, path, nil, append(all, args...)...)
	require.NoError(t, err)
	t.Cleanup(func() {
		if !p.Ended() {
			require.NoError(t, p.Stop())
		}
		require.NotContains(t, p.Log(), "DATA RACE")
		if t.Failed() {
			log := p.Log()
			t.Log(log[max(0, len(log)-8<<10):])
		}
	})
	require.NoError(t, p.WaitReady(ctx))
	front := map[string]string{"webhook": "causeway-webhook", "statuspatch": "causeway-status"}[container]
	r.processes[container] = append(r.processes[container], p)
	r.fronts[front].SetBackends(r.processes[container]...)
	require.NoError(t, environment.WaitFor(ctx, front+" to be answered", func() (bool, string) {
		return r.fronts[front].Active() != nil, "by nobody"
	}))
	return p
}

// arguments of a container, with its variables filled in as a kubelet does.
func arguments(t *testing.T, d *appsv1.Deployment, container string) []string {
	t.Helper()
	for _, c := range d.Spec.Template.Spec.Containers {
		if c.Name != container {
			continue
		}
		var args []string
		for _, arg := range c.Args {
			for _, e := range c.Env {
				arg = strings.ReplaceAll(arg, "$("+e.Name+")", valueOf(d, e))
			}
			args = append(args, arg)
		}
		return args
	}
	require.Fail(t, "no such container", container)
	return nil
}

func valueOf(d *appsv1.Deployment, e corev1.EnvVar) string {
	if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil && e.ValueFrom.FieldRef.FieldPath == "metadata.namespace" {
		return d.Namespace
	}
	return e.Value
}

// one is the only object of its kind.
func one(t *testing.T, objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	t.Helper()
	var found []*unstructured.Unstructured
	for _, o := range objects {
		if o.GetKind() == kind {
			found = append(found, o)
		}
	}
	require.Len(t, found, 1, kind)
	return found[0]
}

func convert(t *testing.T, o *unstructured.Unstructured, into any) {
	t.Helper()
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into))
}
