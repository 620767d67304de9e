package deploy

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
)

// Under a namespace and a prefix of somebody else's, and as the account that is rendered there: every feature works, every
// verb that is granted is used, none is missed, and the webhooks know Causeway by its new name.
func TestEveryFeatureUnderOtherNamesUsesExactlyWhatIsGranted(t *testing.T) {
	audit, flags := auditFlags(t)
	r := started(t, "testdata/renamed", controlplane.Options{APIServerFlags: flags})
	const user = "system:serviceaccount:elsewhere:acme-causeway"
	c := clientFor(t, r.AdminConfig())
	require.NoError(t, c.Create(t.Context(), computeapi.NewRuntimeClass("general-purpose", []string{"NET_BIND_SERVICE"}, computeapi.AsDefault)))
	r.start(t, "webhook")
	r.start(t, "statuspatch")
	// Caches are filled by a watch that begins with what is there, or by a list where a server has no such watch.
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")
	r.start(t, "statuspatch")

	t.Run("refuses", func(t *testing.T) { refuses(t, c) })
	t.Run("lets a child copy its owner", func(t *testing.T) { letsAChildCopyItsOwner(t, c) })
	f := newFamily(t, c, "default", "crashing")
	t.Run("carries a reason up", func(t *testing.T) { carriesUp(t, f) })
	t.Run("reads again what conflicts", func(t *testing.T) { readsAgain(t, f, audit, user) })
	t.Run("settles what was never stored", func(t *testing.T) { settles(t, f, audit, user) })
	t.Run("lists before it marks down", func(t *testing.T) { listsBeforeItMarksDown(t, r, f, audit, user) })
	t.Run("tells, and tells again", func(t *testing.T) { tellsAgain(t, f, audit, user) })
	t.Run("makes the lease anew", func(t *testing.T) { makesTheLeaseAnew(t, c) })

	for _, e := range audit.of(t, user) {
		assert.Empty(t, e.mutatingWebhooks(), "its own write: %+v", e.ObjectRef)
	}
	want := granted(t, r.objects)
	waitUntil(t, "all that is granted to be noted as used", func() (bool, string) {
		have := used(t, audit, user)
		unused := slices.DeleteFunc(slices.Clone(want), func(verb string) bool { return slices.Contains(have, verb) })
		return len(unused) == 0, "unused: " + strings.Join(unused, ", ")
	})
	assert.ElementsMatch(t, want, used(t, audit, user))
	assert.NotEmpty(t, overlaid(t, audit), "the overlay was called for other writers")
}

// The same for what an installation without cert-manager is granted on top.
func TestSelfManagedCertificatesUseExactlyWhatIsGranted(t *testing.T) {
	audit, flags := auditFlags(t)
	r := started(t, overlay("self-managed"), controlplane.Options{APIServerFlags: flags})
	r.start(t, "webhook", "--ca-lifetime=1m", "--cert-lifetime=6s") // soon renewed
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")               // as above
	r.start(t, "statuspatch")
	own := func(verbs []string) []string {
		return slices.DeleteFunc(verbs, func(verb string) bool {
			return !strings.HasPrefix(verb, " secrets ") && !strings.HasPrefix(verb, "admissionregistration.k8s.io ")
		})
	}
	want := own(granted(t, r.objects))
	require.NotEmpty(t, want)
	waitUntil(t, "all that is granted to be used", func() (bool, string) {
		have := own(used(t, audit, "system:serviceaccount:causeway-system:causeway"))
		unused := slices.DeleteFunc(slices.Clone(want), func(verb string) bool { return slices.Contains(have, verb) })
		return len(unused) == 0, "unused: " + strings.Join(unused, ", ")
	})
}

// The same for each component that is granted something on top, whatever deploy/ renders for it.
func TestComponentsUseExactlyWhatIsGranted(t *testing.T) {
	tried := []string{"refusal", "status", "cert-manager", "self-managed"} // by the tests above
	for name, tc := range map[string]struct {
		overlay    string
		components []string
		drive      func(t *testing.T, r *running)
	}{
		// Without the other half, which reads classes too.
		"Pods":    {"status-only", []string{"observe-pods", "capability-hint"}, aPodCrashes},
		"metrics": {"default", []string{"secure-metrics"}, somebodyScrapes},
	} {
		tried = append(tried, tc.components...)
		t.Run(name, func(t *testing.T) {
			without := granted(t, rendered(t, overlay(tc.overlay)))
			audit, flags := auditFlags(t)
			r := started(t, withComponents(t, tc.overlay, tc.components, nil), controlplane.Options{APIServerFlags: flags})
			all := granted(t, r.objects)
			own := slices.DeleteFunc(slices.Clone(all), func(verb string) bool { return slices.Contains(without, verb) })
			require.NotEmpty(t, own)
			tc.drive(t, r)
			const user = "system:serviceaccount:causeway-system:causeway"
			waitUntil(t, "all that is granted to be used", func() (bool, string) {
				have := used(t, audit, user)
				unused := slices.DeleteFunc(slices.Clone(own), func(verb string) bool { return slices.Contains(have, verb) })
				return len(unused) == 0, "unused: " + strings.Join(unused, ", ")
			})
			assert.Subset(t, all, used(t, audit, user))
		})
	}
	rights, err := filepath.Glob("../../deploy/components/*/rbac.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, rights)
	for _, file := range rights {
		assert.Contains(t, tried, filepath.Base(filepath.Dir(file)), "a component whose rights no test uses")
	}
}

// aPodCrashes has an Instance's Pod crash while its provider says nothing.
func aPodCrashes(t *testing.T, r *running) {
	c := clientFor(t, r.AdminConfig())
	require.NoError(t, c.Create(t.Context(), computeapi.NewRuntimeClass("web", []string{"NET_BIND_SERVICE"}, computeapi.AsDefault)))
	f := newFamily(t, c, "default", "observed")
	r.start(t, "statuspatch")
	t.Setenv("KUBE_FEATURE_WatchListClient", "false") // as above
	r.start(t, "statuspatch")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.instance.Namespace, Name: f.instance.Name, OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(f.instance, computeapi.GroupVersion.WithKind("Instance"))}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "r.example/app:1"}}},
	}
	require.NoError(t, c.Create(t.Context(), pod))
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "app", Image: "r.example/app:1", RestartCount: 5,
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1, FinishedAt: metav1.Now()}},
	}}}
	require.NoError(t, c.Status().Update(t.Context(), pod))
	waitUntil(t, "the Workload to say what the Pod does", func() (bool, string) {
		_, workload := f.says(t)
		return strings.HasPrefix(workload, "False/InstanceCrashing "), workload
	})
}

// somebodyScrapes asks both processes for their metrics, with a token of somebody's.
func somebodyScrapes(t *testing.T, r *running) {
	c := clientFor(t, r.AdminConfig())
	require.NoError(t, c.Create(t.Context(), computeapi.NewRuntimeClass("web", nil, computeapi.AsDefault)))
	require.NoError(t, c.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "scraper"}}))
	scraper, err := r.ServiceAccountConfig(t.Context(), "default", "scraper")
	require.NoError(t, err)
	insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	for _, container := range []string{"webhook", "statuspatch"} {
		p := r.start(t, container)
		address, err := p.Address(t.Context(), "metrics")
		require.NoError(t, err)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/metrics", nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+scraper.BearerToken)
		answer, err := insecure.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		assert.Equal(t, http.StatusForbidden, answer.StatusCode, "known, and allowed nothing")
	}
}

// used is what a user was seen to do, less what everybody may: ask who he is. Nothing of it may have been forbidden.
func used(t *testing.T, audit auditLog, user string) (verbs []string) {
	t.Helper()
	for _, e := range audit.of(t, user) {
		assert.NotEqual(t, http.StatusForbidden, e.ResponseStatus.Code, "%+v", e)
		verb := verbOf(e.ObjectRef.APIGroup, e.ObjectRef.Resource, e.ObjectRef.Subresource, e.Verb)
		if verb != "authentication.k8s.io selfsubjectreviews create" && !slices.Contains(verbs, verb) {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

// verbOf is one thing that is done, as text.
func verbOf(group, resource, subresource, verb string) string {
	if subresource != "" {
		resource += "/" + subresource
	}
	return group + " " + resource + " " + verb
}

// granted is everything that the roles among objects allow.
func granted(t *testing.T, objects []*unstructured.Unstructured) (verbs []string) {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() != "Role" && o.GetKind() != "ClusterRole" {
			continue
		}
		var role rbacv1.ClusterRole // a Role has the same rules
		convert(t, o, &role)
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						if v := verbOf(group, resource, "", verb); !slices.Contains(verbs, v) {
							verbs = append(verbs, v)
						}
					}
				}
			}
		}
	}
	return verbs
}

// overlaid are the writes of parents' statuses that the overlay was called for.
func overlaid(t *testing.T, audit auditLog) (events []auditEvent) {
	t.Helper()
	for _, e := range audit.of(t, controlplane.Installer) {
		if e.ObjectRef.Subresource == "status" && len(e.mutatingWebhooks()) > 0 {
			events = append(events, e)
		}
	}
	return events
}

func refuses(t *testing.T, c client.Client) {
	var err error
	waitUntil(t, "the API server to know the webhook", func() (bool, string) {
		err = c.Create(t.Context(), computeapi.NewWorkload("default", "refused", computeapi.WithAdd("SYS_ADMIN")), client.DryRunAll)
		return err != nil, "it does not"
	})
	assert.ErrorContains(t, err, `capability "SYS_ADMIN" is not granted by runtime class "general-purpose"`)
}

// In a namespace that opts out a Workload is stored unjudged; once the namespace is back in, its children may be made.
func letsAChildCopyItsOwner(t *testing.T, c client.Client) {
	const name = "opted-out"
	newNamespace(t, c, name, map[string]string{"causeway.dev/capabilities": "ignore"})
	w := computeapi.NewWorkload(name, "lender", computeapi.WithAdd("SYS_ADMIN"))
	require.NoError(t, c.Create(t.Context(), w))
	back := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"causeway.dev/capabilities":null}}}`))
	require.NoError(t, c.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, back))
	waitUntil(t, "the namespace to be judged again", func() (bool, string) {
		err := c.Create(t.Context(), computeapi.NewWorkload(name, "probe", computeapi.WithAdd("SYS_ADMIN")), client.DryRunAll)
		return err != nil, "it is not"
	})
	d := deploymentOf(w)
	require.NoError(t, c.Create(t.Context(), d))
	require.NoError(t, c.Create(t.Context(), instanceOf(d)))
}

func carriesUp(t *testing.T, f *family) {
	require.NoError(t, f.crash(t.Context(), "It exits with 1."))
	const want = "False/InstanceCrashing 1 of 1 instances is repeatedly exiting and restarting: It exits with 1."
	deployment, workload := f.says(t)
	assert.Equal(t, want, deployment)
	assert.Equal(t, want, workload)

	// The platform's next write does not undo it: the overlay is called for others.
	waitUntil(t, "a young API server to know the kind, which the policy makes it ask for", func() (bool, string) {
		f.says(t) // reads it: Causeway may have written once more
		f.deployment.Status.Conditions = []metav1.Condition{notAvailable("InstancesProvisioning", "Instances are being provisioned")}
		err := f.client.Status().Update(t.Context(), f.deployment)
		if !apierrors.IsServiceUnavailable(err) && !apierrors.IsConflict(err) {
			require.NoError(t, err)
		}
		return err == nil, fmt.Sprint(err)
	})
	deployment, _ = f.says(t)
	assert.Equal(t, want, deployment)

	// And Causeway itself clears what the optional policy would keep from anybody else.
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"conditions":[`+condition("Ready", "False", "Provisioning", "")+`]}}`))
	require.NoError(t, f.client.Status().Patch(t.Context(), f.instance.DeepCopy(), patch))
	deployment, workload = f.says(t)
	assert.Equal(t, "False/InstancesProvisioning Instances are being provisioned", deployment)
	assert.Equal(t, "False/InstancesProvisioning Instances are being provisioned", workload)
}

// readsAgain changes the parents all the time, until a write of Causeway's has met that and read each of them live.
func readsAgain(t *testing.T, f *family, audit auditLog, user string) {
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; !stop.Load(); i++ {
			label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"turn":"`+strconv.Itoa(i)+`"}}}`))
			_ = f.client.Patch(t.Context(), f.deployment.DeepCopy(), label)
			_ = f.client.Patch(t.Context(), f.workload.DeepCopy(), label)
		}
	}()
	defer func() { stop.Store(true); <-done }()
	turn := 0
	waitUntil(t, "both parents to be read after a conflict", func() (bool, string) {
		turn++
		require.NoError(t, f.crash(t.Context(), "Turn "+strconv.Itoa(turn)+"."))
		read := map[string]bool{}
		for _, e := range audit.of(t, user) {
			if e.Verb == "get" && e.ObjectRef.Name == f.workload.Name {
				read[e.ObjectRef.Resource] = true
			}
		}
		return read["workloads"] && read["workloaddeployments"], "not yet"
	})
}

// settles has another webhook refuse a write that Causeway has seen, so that the write is never stored.
func settles(t *testing.T, f *family, audit auditLog, user string) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "refused by another"}}
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	fail, none := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone
	refuser := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "refuser"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "refuser.example.com", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &server.URL,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})},
			Rules: []admissionregistrationv1.RuleWithOperations{{Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{APIGroups: []string{computeapi.GroupVersion.Group}, APIVersions: []string{"*"}, Resources: []string{"instances/status"}}}},
		}},
	}
	require.NoError(t, f.client.Create(t.Context(), refuser))
	turn := 0
	waitUntil(t, "a write to be refused", func() (bool, string) {
		turn++
		return f.crash(t.Context(), "Stored or not, turn "+strconv.Itoa(turn)+".") != nil, "none was"
	})
	waitUntil(t, "the Instance to be read", func() (bool, string) {
		for _, e := range audit.of(t, user) {
			if e.Verb == "get" && e.ObjectRef.Resource == "instances" {
				return true, ""
			}
		}
		return false, "not yet"
	})
	require.NoError(t, f.client.Delete(t.Context(), refuser))
	waitUntil(t, "no write to be refused any more", func() (bool, string) {
		turn++
		err := f.crash(t.Context(), "Stored again, turn "+strconv.Itoa(turn)+".")
		return err == nil, fmt.Sprint(err)
	})
	waitUntil(t, "the truth to be back", func() (bool, string) {
		deployment, workload := f.says(t)
		var i computeapi.Instance
		require.NoError(t, f.client.Get(t.Context(), client.ObjectKeyFromObject(f.instance), &i))
		want := "False/InstanceCrashing 1 of 1 instances is repeatedly exiting and restarting: " +
			computeapi.Condition(i.Status.Conditions, computeapi.ReadyCondition).Message
		return deployment == want && workload == want, deployment + " and " + workload + ", not " + want
	})
}

// listsBeforeItMarksDown has a serving Instance fail while nobody can be called, so that only the loop sees it.
func listsBeforeItMarksDown(t *testing.T, r *running, f *family, audit auditLog, user string) {
	require.NoError(t, f.recovers(t.Context()))
	listed := func() (n int) {
		for _, e := range audit.of(t, user) {
			if e.Verb == "list" && e.ObjectRef.Resource == "instances" && e.ObjectRef.Namespace == f.instance.Namespace {
				n++
			}
		}
		return n
	}
	require.Zero(t, listed())
	r.fronts["causeway-status"].SetOpen(false)
	defer r.fronts["causeway-status"].SetOpen(true)
	require.NoError(t, f.crash(t.Context(), "Nobody was told."))
	waitUntil(t, "the loop to mark it down", func() (bool, string) {
		deployment, _ := f.says(t)
		return deployment == "False/InstanceCrashing 1 of 1 instances is repeatedly exiting and restarting: Nobody was told.", deployment
	})
	assert.NotZero(t, listed())
}

func makesTheLeaseAnew(t *testing.T, c client.Client) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "acme-causeway-statuspatch"}}
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(lease), lease))
	require.NotNil(t, lease.Spec.HolderIdentity, "the one of the manifests is in use")
	require.NoError(t, c.Delete(t.Context(), lease))
	waitUntil(t, "somebody to hold it again", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(lease), lease)
		return err == nil && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "", "nobody does"
	})
}
