package certmanager

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	apiutil "github.com/cert-manager/cert-manager/pkg/api/util"
	cmapi "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/install"
)

// kubeletDelay stands for the minute that a real kubelet may take.
const kubeletDelay = time.Second

// patience bounds every wait here.
const patience = 60 * time.Second

// Names in deploy/components/cert-manager.
const (
	authority = "causeway-ca"
	serving   = "causeway-tls"
)

// world is Causeway as deploy/overlays/default installs it, with cert-manager.
type world struct {
	*environment.Environment
	t      *testing.T
	ctx    context.Context
	admin  client.Client
	system kubernetes.Interface
	// stopInjector ends cainjector and waits for it.
	stopInjector func()
}

// start puts it together, with two processes of each half.
func start(t *testing.T) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	e, err := environment.Start(ctx, environment.Options{Binary: binary, DeployOverlay: "default"})
	require.NoError(t, err)
	w := &world{Environment: e, t: t, ctx: ctx}
	t.Cleanup(func() {
		require.NoError(t, e.Stop())
		for _, p := range append(e.Webhooks, e.Sidecars...) {
			require.NotContains(t, p.Log(), "DATA RACE", p.Name)
		}
	})
	scheme := runtime.NewScheme()
	require.NoError(t, cmapi.AddToScheme(scheme))
	require.NoError(t, corev1.AddToScheme(scheme))
	w.admin, err = client.New(e.AdminConfig(), client.Options{Scheme: scheme})
	require.NoError(t, err)
	w.system, err = kubernetes.NewForConfig(e.AdminConfig())
	require.NoError(t, err)
	w.startCertManager()
	w.installCertificates()
	w.startProcesses()
	return w
}

// background runs something until the test ends, before the API server does.
func (w *world) background(what string, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(w.ctx)
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-ended:
			require.NoError(w.t, err, what)
		case <-time.After(patience):
			w.t.Error(what + " does not end")
		}
	}
	w.t.Cleanup(stop)
	return stop
}

func (w *world) startCertManager() {
	w.t.Helper()
	require.NoError(w.t, install.Install(w.ctx, w.AdminConfig(), crds(w.t), install.Options{}))
	kubeconfig := filepath.Join(w.t.TempDir(), "kubeconfig")
	require.NoError(w.t, controlplane.WriteKubeconfig(kubeconfig, w.AdminConfig()))
	w.background("cert-manager", func(ctx context.Context) error { return Issue(ctx, kubeconfig) })
	w.startInjector()
}

func (w *world) startInjector() {
	config := w.AdminConfig()
	w.stopInjector = w.background("cainjector", func(ctx context.Context) error { return Inject(ctx, config) })
}

// crds are cert-manager's, from its own module.
func crds(t *testing.T) (objects []*unstructured.Unstructured) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "deploy", "crds", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		o := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal(data, &o.Object))
		objects = append(objects, o)
	}
	return objects
}

// installCertificates applies what deploy/ has for cert-manager. One thing is
// added: the address that stands in for both Services here.
func (w *world) installCertificates() {
	w.t.Helper()
	all, err := install.Render(filepath.Join(environment.Root(), "deploy", "overlays", "default"))
	require.NoError(w.t, err)
	var own []*unstructured.Unstructured
	for _, o := range all {
		if o.GroupVersionKind().Group != cmapi.SchemeGroupVersion.Group {
			continue
		}
		if o.GetName() == serving {
			require.NoError(w.t, unstructured.SetNestedStringSlice(o.Object, []string{"127.0.0.1"}, "spec", "ipAddresses"))
		}
		own = append(own, o)
	}
	require.Len(w.t, own, 4)
	require.NoError(w.t, install.Install(w.ctx, w.AdminConfig(), own, install.Options{}))
	w.waitFor("the certificate to be issued, and its authority to be trusted", func() (bool, string) {
		leaf, trusted := w.leaf(), w.trusted()
		return leaf != nil && trusted, fmt.Sprintf("issued: %t, trusted: %t", leaf != nil, trusted)
	})
}

func (w *world) startProcesses() {
	w.t.Helper()
	dir := w.t.TempDir()
	w.background("the kubelet", func(ctx context.Context) error {
		return Kubelet(ctx, w.system.CoreV1().Secrets(environment.Namespace), serving, dir, kubeletDelay)
	})
	w.waitFor("the Secret to be placed", func() (bool, string) {
		_, err := os.Stat(filepath.Join(dir, "tls.key"))
		return err == nil, fmt.Sprint(err)
	})
	for range 2 {
		_, err := w.StartWebhookWith(w.ctx, "--cert-dir="+dir)
		require.NoError(w.t, err)
		_, err = w.StartSidecar(w.ctx, "--cert-dir="+dir, "--repair-loop=false")
		require.NoError(w.t, err)
	}
	require.NoError(w.t, w.WaitActive(w.ctx))
}

func (w *world) waitFor(what string, reached func() (bool, string)) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	require.NoError(w.t, environment.WaitFor(ctx, what, reached))
}

// renew has cert-manager issue a Certificate anew, as "cmctl renew" does, and
// returns when the Secret holds the new one.
func (w *world) renew(name string) {
	w.t.Helper()
	before := w.certificate(name)
	require.NoError(w.t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var c cmapi.Certificate
		if err := w.admin.Get(w.ctx, client.ObjectKey{Namespace: environment.Namespace, Name: name}, &c); err != nil {
			return err
		}
		apiutil.SetCertificateCondition(&c, c.Generation, cmapi.CertificateConditionIssuing, cmmeta.ConditionTrue, "ManuallyTriggered", "a test")
		return w.admin.Status().Update(w.ctx, &c)
	}))
	w.waitFor(name+" to be issued anew", func() (bool, string) {
		return !w.certificate(name).Equal(before), "the old one is there"
	})
}

// certificate is what the Secret of that name holds, nil for nothing.
func (w *world) certificate(name string) *x509.Certificate {
	var secret corev1.Secret
	if err := w.admin.Get(w.ctx, client.ObjectKey{Namespace: environment.Namespace, Name: name}, &secret); err != nil {
		return nil
	}
	all, err := certutil.ParseCertsPEM(secret.Data[corev1.TLSCertKey])
	if err != nil {
		return nil
	}
	return all[0]
}

func (w *world) leaf() *x509.Certificate { return w.certificate(serving) }

// trusted tells whether all of Causeway's configurations trust the authority
// that cert-manager holds now.
func (w *world) trusted() bool {
	ca := w.certificate(authority)
	if ca == nil {
		return false
	}
	pem, err := certutil.EncodeCertificates(ca)
	require.NoError(w.t, err)
	configurations, err := w.bundles()
	require.NoError(w.t, err)
	for _, bundle := range configurations {
		if !bytes.Contains(bundle, bytes.TrimSpace(pem)) {
			return false
		}
	}
	return true
}

// serves tells whether all processes show a certificate.
func (w *world) serves(want *x509.Certificate) (bool, string) {
	for _, p := range append(w.Webhooks, w.Sidecars...) {
		address, err := p.Address(w.ctx, "reviews")
		require.NoError(w.t, err)
		conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}) // it is looked at, not trusted
		if err != nil {
			return false, err.Error()
		}
		shown := conn.ConnectionState().PeerCertificates[0]
		_ = conn.Close()
		if !shown.Equal(want) {
			return false, p.Name + " shows another one"
		}
	}
	return true, ""
}
