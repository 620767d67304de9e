package install_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/crds"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/install"
)

func newClient(t *testing.T) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{})
	require.NoError(t, err)
	return c
}

// uninstall removes objects at the end of the test, whose own context is over then.
func uninstall(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	t.Cleanup(func() {
		if err := install.Uninstall(context.Background(), config, objects); err != nil {
			t.Error(err)
		}
	})
}

func TestRenderBuildsAKustomization(t *testing.T) {
	objects, err := install.Render("testdata/overlay")
	require.NoError(t, err)
	var names []string
	for _, obj := range objects {
		names = append(names, obj.GetKind()+" "+obj.GetName())
		if obj.GetKind() == "Deployment" {
			replicas, _, err := unstructured.NestedInt64(obj.Object, "spec", "replicas")
			require.NoError(t, err)
			assert.EqualValues(t, 2, replicas, "the overlay's patch")
		}
	}
	assert.ElementsMatch(t, []string{
		"Namespace guard", "ServiceAccount guard", "Service guard", "Deployment guard",
		"ValidatingAdmissionPolicy guard", "ValidatingWebhookConfiguration guard",
	}, names)
}

func TestRenderSaysWhatIsMissing(t *testing.T) {
	_, err := install.Render(filepath.Join(t.TempDir(), "none"))
	require.ErrorContains(t, err, "render ")
	require.ErrorContains(t, err, "none")
}

// serveRefusals is a webhook that refuses everything and says at which path.
func serveRefusals(t *testing.T) (url string, ca []byte) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID:    review.Request.UID,
			Result: &metav1.Status{Message: "refused at " + r.URL.Path},
		}
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func TestInstallWorksWhateverTheOrderAndTwice(t *testing.T) {
	url, ca := serveRefusals(t)
	objects, err := install.Render("testdata/overlay")
	require.NoError(t, err)
	kinds, err := crds.Objects()
	require.NoError(t, err)
	classes, err := crds.Classes()
	require.NoError(t, err)
	// The worst order: what needs something comes before what it needs.
	slices.Reverse(objects)
	all := slices.Concat(objects, classes, kinds)
	opts := install.Options{WebhookURL: func(string) string { return url }, CABundle: ca}

	// The namespace stays, as nobody here empties one that is being deleted.
	uninstall(t, slices.DeleteFunc(slices.Clone(all), func(obj *unstructured.Unstructured) bool { return obj.GetKind() == "Namespace" }))
	for range 2 {
		require.NoError(t, install.Install(t.Context(), config, all, opts))
	}
	c := newClient(t)
	for _, obj := range all {
		got := &unstructured.Unstructured{}
		got.SetGroupVersionKind(obj.GroupVersionKind())
		require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(obj), got))
	}

	// The webhook is reached at its path and trusted. The API server picks a new
	// configuration up a moment after it is stored.
	const want = `admission webhook "config.guard.example" denied the request: refused at /config`
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, environment.WaitFor(ctx, "the webhook to refuse", func() (bool, string) {
		err := c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "x-"}}, client.DryRunAll)
		return err != nil && err.Error() == want, fmt.Sprint(err)
	}))
}

func TestUninstallLeavesNothingButTheNamespace(t *testing.T) {
	objects, err := install.Render("testdata/base")
	require.NoError(t, err)
	// A namespace that is being deleted would refuse the other tests.
	objects = slices.DeleteFunc(objects, func(obj *unstructured.Unstructured) bool {
		return obj.GetKind() == "Namespace" || obj.GetNamespace() != ""
	})
	kinds, err := crds.Objects()
	require.NoError(t, err)
	classes, err := crds.Classes()
	require.NoError(t, err)
	all := slices.Concat(kinds, classes, objects)

	// The second round shows that the first left nothing in the way.
	for range 2 {
		require.NoError(t, install.Install(t.Context(), config, all, install.Options{}))
		require.NoError(t, install.Uninstall(t.Context(), config, all))
		c := newClient(t)
		for _, obj := range all {
			err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj.DeepCopy())
			assert.True(t, apierrors.IsNotFound(err) || meta.IsNoMatchError(err), "%s %s: %v", obj.GetKind(), obj.GetName(), err)
		}
	}
	require.NoError(t, install.Uninstall(t.Context(), config, all), "nothing is left to delete")
}

func TestInstallSaysWhyAKindIsNotServed(t *testing.T) {
	crd := func(plural string) *unstructured.Unstructured {
		return object(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: `+plural+`.clash.example}
spec:
  group: clash.example
  scope: Cluster
  names: {kind: Clash, plural: `+plural+`}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`)
	}
	first, second := crd("clashes"), crd("others")
	uninstall(t, []*unstructured.Unstructured{first, second})
	require.NoError(t, install.Install(t.Context(), config, []*unstructured.Unstructured{first}, install.Options{}))
	// Patience ends when the API server has said it, and was asked once more.
	require.NoError(t, newClient(t).Create(t.Context(), second.DeepCopy()))
	said := &unstructured.Unstructured{}
	said.SetGroupVersionKind(second.GroupVersionKind())
	waiting, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, environment.WaitFor(waiting, "the name to be refused", func() (bool, string) {
		require.NoError(t, newClient(t).Get(t.Context(), client.ObjectKeyFromObject(second), said))
		text := fmt.Sprint(said.Object["status"])
		return strings.Contains(text, "is already in use"), text
	}))
	ctx, enough := context.WithCancel(t.Context())
	defer enough()
	asked := 0
	watched := rest.CopyConfig(config)
	watched.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/others.clash.example") {
				if asked++; asked == 2 {
					enough()
				}
			}
			return next.RoundTrip(r)
		})
	})
	err := install.Install(ctx, watched, []*unstructured.Unstructured{second}, install.Options{})
	require.ErrorContains(t, err, `install: wait for CustomResourceDefinition "others.clash.example": `)
	require.ErrorContains(t, err, `is already in use`)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestInstallNamesTheObjectThatIsRefused(t *testing.T) {
	bad := object(t, `
apiVersion: v1
kind: Service
metadata: {name: bad, namespace: default}
spec: {ports: [{port: 0}]}
`)
	err := install.Install(t.Context(), config, []*unstructured.Unstructured{bad}, install.Options{})
	require.ErrorContains(t, err, `install Service "bad" in namespace "default": `)
	require.True(t, apierrors.IsInvalid(err), "got %v", err)
}
