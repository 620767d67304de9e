package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/crds"
	"github.com/causeway-webhook/causeway/test/install"
	"github.com/causeway-webhook/causeway/test/platform"
)

// Names of what deploy/ installs.
const (
	Namespace      = "causeway-system"
	ServiceAccount = "causeway"

	// ServiceWebhook and ServiceStatus are the Services the configurations name.
	ServiceWebhook = "causeway-webhook"
	ServiceStatus  = "causeway-status"

	// Configurations, for Options.Without.
	Refusal = "ValidatingWebhookConfiguration/causeway-webhook"
	Status  = "ValidatingWebhookConfiguration/causeway-status"
	Overlay = "MutatingWebhookConfiguration/causeway-overlay"
)

// Users who are neither Causeway nor the platform. They may do everything with
// the compute API and nothing else.
const (
	Customer = "alice"
	Writer   = "provider-by-hand"

	editorRole = "compute-editor"
)

// Options say what to put together. Binary is required where processes are.
type Options struct {
	// Binary is the causeway binary.
	Binary string
	// ControlPlane is how etcd and the API server run.
	ControlPlane controlplane.Options
	// DeployOverlay is the folder of deploy/overlays that is installed; none if
	// empty.
	DeployOverlay string
	// Components are further folders of deploy/components.
	Components []string
	// Without leaves out objects, as Kind/name.
	Without []string
	// Webhook and Statuspatch are how many processes of each run, with these
	// further arguments.
	Webhook, Statuspatch         int
	WebhookArgs, StatuspatchArgs []string
	// Proxy has the processes reach the API server through Environment.Proxy.
	Proxy bool
	// Platform is the stand-in platform; none if nil. Its Config is filled in.
	Platform *platform.Options
	// Out gets what the processes log.
	Out io.Writer
}

// Environment is all that runs.
type Environment struct {
	*controlplane.ControlPlane
	// Platform is nil if Options had none.
	Platform *platform.Platform
	// RefusalFront and StatusFront stand in for the two Services.
	RefusalFront, StatusFront *Balancer
	// Proxy is nil unless Options asked for one.
	Proxy *Proxy
	// Webhooks and Sidecars are the processes running, in the order started.
	Webhooks, Sidecars []*Process

	options    Options
	dir        string
	kubeconfig string
	certDir    string
	ca         []byte
	started    int
}

// Start puts everything together and returns when all of it is ready and one
// sidecar is active. On an error nothing is left running.
func Start(ctx context.Context, options Options) (_ *Environment, err error) {
	e := &Environment{options: options}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Stop())
		}
	}()
	for _, step := range []func(context.Context) error{
		e.startControlPlane, e.startFronts, e.installDeploy, e.startProcesses, e.startPlatform,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Install puts Causeway beside a platform that was started without it: what the
// overlay of deploy/ renders, and so many processes of each. It returns when all
// of them are ready and one sidecar is active.
func (e *Environment) Install(ctx context.Context, overlay string, webhooks, sidecars int) error {
	e.options.DeployOverlay, e.options.Webhook, e.options.Statuspatch = overlay, webhooks, sidecars
	if err := e.installDeploy(ctx); err != nil {
		return err
	}
	return e.startProcesses(ctx)
}

// Stop ends everything, in the order in which it depends on each other.
func (e *Environment) Stop() error {
	var errs []error
	if e.Platform != nil {
		errs = append(errs, e.Platform.Stop())
	}
	for _, p := range append(e.Sidecars, e.Webhooks...) {
		if !p.Ended() {
			errs = append(errs, p.Stop())
		}
	}
	for _, b := range []*Balancer{e.RefusalFront, e.StatusFront} {
		if b != nil {
			b.Stop()
		}
	}
	if e.Proxy != nil {
		e.Proxy.Stop()
	}
	if e.ControlPlane != nil {
		errs = append(errs, e.ControlPlane.Stop())
	}
	if e.dir != "" {
		errs = append(errs, os.RemoveAll(e.dir))
	}
	return errors.Join(errs...)
}

func (e *Environment) startControlPlane(ctx context.Context) (err error) {
	if e.dir, err = os.MkdirTemp("", "causeway-environment-"); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	if e.ControlPlane, err = controlplane.Start(ctx, e.options.ControlPlane); err != nil {
		return err
	}
	for _, load := range []func() ([]*unstructured.Unstructured, error){crds.Objects, crds.Classes} {
		objects, err := load()
		if err != nil {
			return err
		}
		if err := install.Install(ctx, e.AdminConfig(), objects, install.Options{}); err != nil {
			return err
		}
	}
	if err := platform.InstallRBAC(ctx, e.AdminConfig()); err != nil {
		return err
	}
	return e.installUsers(ctx)
}

// installUsers gives the ordinary users their rights.
func (e *Environment) installUsers(ctx context.Context) error {
	role := &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: editorRole},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{computeapi.GroupVersion.Group}, Resources: []string{"*"}, Verbs: []string{"*"},
		}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: editorRole},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: editorRole},
	}
	for _, user := range []string{Customer, Writer} {
		binding.Subjects = append(binding.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user})
	}
	objects, err := install.Untyped(role, binding)
	if err != nil {
		return err
	}
	return install.Install(ctx, e.AdminConfig(), objects, install.Options{})
}

func (e *Environment) startFronts(context.Context) (err error) {
	if e.RefusalFront, err = StartBalancer(ByReady); err != nil {
		return err
	}
	if e.StatusFront, err = StartBalancer(ByActive); err != nil {
		return err
	}
	e.certDir = filepath.Join(e.dir, "tls")
	if err := os.Mkdir(e.certDir, 0o700); err != nil {
		return fmt.Errorf("making a folder for the certificate: %w", err)
	}
	// One certificate for both processes, for the names of both Services and for
	// the address that stands in for them.
	names := []string{
		ServiceWebhook + "." + Namespace + ".svc", ServiceStatus + "." + Namespace + ".svc",
	}
	cert, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", nil, names)
	if err != nil {
		return fmt.Errorf("making a certificate: %w", err)
	}
	e.ca = cert
	return errors.Join(
		os.WriteFile(filepath.Join(e.certDir, "tls.crt"), cert, 0o600),
		os.WriteFile(filepath.Join(e.certDir, "tls.key"), key, 0o600))
}

// Manifests renders what the options install, less what they leave out.
func (e *Environment) Manifests() ([]*unstructured.Unstructured, error) {
	deploy := filepath.Join(Root(), "deploy")
	dir := filepath.Join(deploy, "overlays", e.options.DeployOverlay)
	if len(e.options.Components) > 0 {
		var err error
		if dir, err = e.composition(deploy, dir); err != nil {
			return nil, err
		}
	}
	objects, err := install.Render(dir)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(install.WithoutOperators(objects), func(o *unstructured.Unstructured) bool {
		return slices.Contains(e.options.Without, o.GetKind()+"/"+o.GetName())
	}), nil
}

// composition is a kustomization of an overlay with further components.
func (e *Environment) composition(deploy, overlay string) (string, error) {
	dir := filepath.Join(e.dir, "composition")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making a kustomization: %w", err)
	}
	relative := func(path string) string {
		r, err := filepath.Rel(dir, path)
		if err != nil {
			return path
		}
		return strconv.Quote(r)
	}
	text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- " + relative(overlay) + "\ncomponents:\n"
	for _, component := range e.options.Components {
		text += "- " + relative(filepath.Join(deploy, "components", component)) + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("making a kustomization: %w", err)
	}
	return dir, nil
}

func (e *Environment) installDeploy(ctx context.Context) error {
	if e.options.DeployOverlay == "" {
		return nil
	}
	objects, err := e.Manifests()
	if err != nil {
		return err
	}
	if err := install.Install(ctx, e.AdminConfig(), objects, e.InstallOptions()); err != nil {
		return err
	}
	account, err := e.ServiceAccountConfig(ctx, Namespace, ServiceAccount)
	if err != nil {
		return err
	}
	if e.options.Proxy {
		if e.Proxy, err = StartProxy(account); err != nil {
			return err
		}
		account = e.Proxy.Config(account)
	}
	e.kubeconfig = filepath.Join(e.dir, "causeway.kubeconfig")
	return controlplane.WriteKubeconfig(e.kubeconfig, account)
}

// InstallOptions have the webhooks called at the fronts.
func (e *Environment) InstallOptions() install.Options {
	fronts := map[string]*Balancer{ServiceWebhook: e.RefusalFront, ServiceStatus: e.StatusFront}
	return install.Options{
		CABundle: e.ca,
		WebhookURL: func(service string) string {
			if b := fronts[service]; b != nil {
				return b.URL()
			}
			return ""
		},
	}
}

func (e *Environment) startProcesses(ctx context.Context) error {
	for range e.options.Webhook {
		if _, err := e.StartWebhook(ctx); err != nil {
			return err
		}
	}
	for range e.options.Statuspatch {
		if _, err := e.StartSidecar(ctx); err != nil {
			return err
		}
	}
	if e.options.Statuspatch > 0 {
		return e.WaitActive(ctx)
	}
	return nil
}

// WaitActive returns when reviews go to an active sidecar.
func (e *Environment) WaitActive(ctx context.Context) error {
	return WaitFor(ctx, "a sidecar to be active", func() (bool, string) {
		return e.StatusFront.Active() != nil, "none"
	})
}

// StartWebhook runs one more `causeway webhook`, ready and in rotation.
func (e *Environment) StartWebhook(ctx context.Context) (*Process, error) {
	p, err := e.startProcess(ctx, "webhook", e.options.WebhookArgs...)
	if err != nil {
		return nil, err
	}
	e.Webhooks = append(e.Webhooks, p)
	e.RefusalFront.SetBackends(slices.Clone(e.Webhooks)...)
	return p, WaitFor(ctx, "the webhook to be in rotation", func() (bool, string) {
		return e.RefusalFront.Active() != nil, "not yet"
	})
}

// StartSidecar runs one more `causeway statuspatch`, with further arguments, until
// it is ready.
func (e *Environment) StartSidecar(ctx context.Context, args ...string) (*Process, error) {
	p, err := e.startProcess(ctx, "statuspatch", append(slices.Clone(e.options.StatuspatchArgs), args...)...)
	if err != nil {
		return nil, err
	}
	e.Sidecars = append(e.Sidecars, p)
	e.StatusFront.SetBackends(slices.Clone(e.Sidecars)...)
	return p, nil
}

func (e *Environment) startProcess(ctx context.Context, command string, args ...string) (*Process, error) {
	e.started++
	name := command + "-" + strconv.Itoa(e.started)
	p, err := StartProcess(ctx, name, e.options.Binary, e.options.Out,
		append([]string{command, "--kubeconfig=" + e.kubeconfig, "--cert-dir=" + e.certDir, "--shutdown-delay=0s"}, args...)...)
	if err != nil {
		return nil, err
	}
	if err := p.WaitReady(ctx); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

func (e *Environment) startPlatform(ctx context.Context) (err error) {
	if e.options.Platform == nil {
		return nil
	}
	options := *e.options.Platform
	options.Config = func(user string) *rest.Config { return e.Config(user) }
	e.Platform, err = platform.Start(ctx, options)
	return err
}

// Kubeconfig is the path of the kubeconfig of Causeway's service account.
func (e *Environment) Kubeconfig() string { return e.kubeconfig }

// CertDir is the folder of the serving certificate.
func (e *Environment) CertDir() string { return e.certDir }

// Client is a client of a user. It knows the compute API and Kubernetes' own.
func (e *Environment) Client(user string) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(computeapi.AddToScheme(scheme), corev1.AddToScheme(scheme), rbacv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	config := e.Config(user)
	if user == controlplane.Installer {
		config = e.AdminConfig()
	}
	config.QPS = -1
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

// CreateNamespace makes a namespace.
func (e *Environment) CreateNamespace(ctx context.Context, name string) error {
	admin, err := e.Client(controlplane.Installer)
	if err != nil {
		return err
	}
	err = admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	return nil
}
