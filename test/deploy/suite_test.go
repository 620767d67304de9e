package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/install"
)

// The service account of deploy/base, and an ordinary user of the platform's.
const (
	ownNamespace = "causeway-system"
	ownAccount   = "causeway"
	namespace    = "default"
)

// cp is one control plane for the whole package: a start costs seconds. Each test installs what it needs and takes it
// out again.
var cp *controlplane.ControlPlane

// scratch is a folder for the length of the run.
var scratch string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	ctrl.SetLogger(logr.Discard()) // the tests speak for themselves
	var err error
	if scratch, err = os.MkdirTemp("", "causeway-deploy-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	return controlplane.RunTests(m, func(ctx context.Context, started *controlplane.ControlPlane) error {
		cp = started
		return installCRDs(ctx)
	})
}

func installCRDs(ctx context.Context) error {
	objects, err := install.Render(filepath.Join("..", "crds"))
	if err != nil {
		return err
	}
	return install.Install(ctx, cp.AdminConfig(), objects, install.Options{})
}

// deployed installs a kustomization for the length of a test, with webhooks answered by s (nil: they keep naming their
// Services, which nobody serves).
func deployed(t *testing.T, dir string, s *stub) []*unstructured.Unstructured {
	t.Helper()
	objects := rendered(t, dir)
	var options install.Options
	if s != nil {
		options = install.Options{WebhookURL: func(string) string { return s.url }, CABundle: s.ca}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, install.Install(ctx, cp.AdminConfig(), objects, options))
	t.Cleanup(func() {
		// The namespace stays: nobody here empties it, and one that is being deleted takes nothing new.
		rest := slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return o.GetKind() == "Namespace" })
		require.NoError(t, install.Uninstall(context.Background(), cp.AdminConfig(), rest))
		// The API server hears of the end of a configuration a moment later, too.
		if has(objects, "ValidatingWebhookConfiguration", "causeway-webhook") {
			ctx := cleanup(t)
			require.NoError(t, environment.WaitFor(ctx, "nothing to be judged any more", func() (bool, string) {
				err := judge(ctx, admin(t))
				return err == nil, sprintf("%v", err)
			}))
		}
	})
	if s != nil {
		s.inForce(t, objects)
	}
	return objects
}

// has tells whether an object is among objects, a prefix before its name or not.
func has(objects []*unstructured.Unstructured, kind, name string) bool {
	return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == kind && strings.HasSuffix(o.GetName(), name)
	})
}

// judge asks, dry, for a Workload that adds a capability.
func judge(ctx context.Context, c dynamic.Interface) error {
	var f map[string]any
	if err := json.Unmarshal([]byte(sprintf(judged["Workload"].wrap, runtimeWith(addsOne))), &f); err != nil {
		return err
	}
	_, err := c.Resource(resource("workloads")).Namespace(namespace).Create(ctx, object("Workload", "judged", f), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// rendered is a kustomization less what cert-manager acts on, which is not here: test/certmanager is for that.
func rendered(t *testing.T, dir string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := install.Render(dir)
	require.NoError(t, err)
	return install.WithoutOperators(objects)
}

func overlay(name string) string { return filepath.Join("..", "..", "deploy", "overlays", name) }

// as is a client of one user, who may do everything with the compute API.
func as(t *testing.T, config *rest.Config) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	return c
}

func admin(t *testing.T) dynamic.Interface { return as(t, cp.AdminConfig()) }

func causeway(t *testing.T) dynamic.Interface {
	t.Helper()
	config, err := cp.ServiceAccountConfig(t.Context(), ownNamespace, ownAccount)
	require.NoError(t, err)
	return as(t, config)
}

func resource(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "compute.datumapis.com", Version: "v1alpha", Resource: name}
}

// eventually waits for what the API server takes a moment to notice, such as a new policy.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	waitUntil(t, what, func() (bool, string) { return ok(), "not yet" })
}

// warnings collects what the API server warns of.
type warnings struct {
	mu   sync.Mutex
	text []string
}

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text)
}

// object decodes a compute object and gives it a fresh name.
func object(kind, name string, fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	for k, v := range fields {
		o.Object[k] = v
	}
	o.SetAPIVersion("compute.datumapis.com/v1alpha")
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// remove deletes an object and whatever keeps it.
func remove(t *testing.T, gvr schema.GroupVersionResource, name string) {
	t.Helper()
	err := admin(t).Resource(gvr).Namespace(namespace).Delete(context.Background(), name, metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		require.NoError(t, err)
	}
}

// uniqueName makes a name out of the test's.
func uniqueName(t *testing.T) string {
	name := strings.ToLower(t.Name())
	name = name[strings.LastIndex(name, "/")+1:]
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name[:min(len(name), 50)]), "-")
}
