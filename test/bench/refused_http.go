package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
	"github.com/causeway-webhook/causeway/test/bench/report"
	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/webhook"
)

// What both webhooks refuse: a container that adds refusedCapability. refusingClass
// grants another one, and the Pod Security level "restricted" NET_BIND_SERVICE alone.
const (
	refusingClass     = "web"
	refusedCapability = "SYS_ADMIN"
)

// refusedHTTP measures what a refusal costs the webhook itself: reviews are sent
// as the API server sends them, by nobody but this process.
func refusedHTTP(ctx context.Context, e *env) (report.Table, error) {
	p, err := e.planes(ctx)
	if err != nil {
		return report.Table{}, err
	}
	podSecurity, err := startPodSecurity(ctx, e, p.bare)
	if err != nil {
		return report.Table{}, err
	}
	defer podSecurity.Kill()
	noOp, err := e.startBaselines(ctx, p)
	if err != nil {
		return report.Table{}, err
	}
	defer noOp.Kill()
	if err := addRefusingClass(ctx, p.causeway); err != nil {
		return report.Table{}, err
	}
	workload, err := workloadReview()
	if err != nil {
		return report.Table{}, err
	}
	pod, err := podReview()
	if err != nil {
		return report.Table{}, err
	}

	const connections, allowed, refused = 16, `"allowed":true`, `"allowed":false`
	each := short(e, 75, 4)
	reviewing := func(server *environment.Process, path string, body []byte, verdict string) (func(context.Context) (half, error), error) {
		address, err := server.Address(ctx, "reviews")
		if err != nil {
			return nil, err
		}
		clients := newReviewClients("https://"+address, connections)
		review := func(ctx context.Context, w writer, _ int) error {
			answer, err := w.send(ctx, http.MethodPost, path+"?timeout=5s", plainJSON, body)
			if err == nil && !bytes.Contains(answer, []byte(verdict)) {
				err = fmt.Errorf("%s answers %s, which does not say %s", server.Name, answer, verdict)
			}
			return err
		}
		starting, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		// The classes may not have reached the cache, nor the namespace the informer.
		err = environment.WaitFor(starting, server.Name+" to answer "+verdict, func() (bool, string) {
			err := review(ctx, clients[0], 0)
			return err == nil, fmt.Sprint(err)
		})
		return halfOf(clients, each, review), err
	}
	halves := map[string]func(context.Context) (half, error){}
	for name, at := range map[string]struct {
		server  *environment.Process
		path    string
		body    []byte
		verdict string
	}{
		"causeway":     {p.causeway.Webhooks[0], webhook.PathWorkloads, workload, refused},
		"no-op":        {noOp, "/" + baselineYes, workload, allowed},
		"pod security": {podSecurity, "/", pod, refused},
	} {
		if halves[name], err = reviewing(at.server, at.path, at.body, at.verdict); err != nil {
			return report.Table{}, err
		}
	}
	taken, err := e.measure(ctx,
		pairs.Comparison[half]{Base: halves["no-op"], Other: halves["no-op"]},
		pairs.Comparison[half]{Base: halves["no-op"], Other: halves["causeway"]},
		pairs.Comparison[half]{Base: halves["pod security"], Other: halves["pod security"]},
		pairs.Comparison[half]{Base: halves["pod security"], Other: halves["causeway"]})
	if err != nil {
		return report.Table{}, err
	}
	if err := e.profile(ctx, "refused-http", p.causeway.Webhooks[0], halves["causeway"]); err != nil {
		return report.Table{}, err
	}
	return report.Table{
		Title: "A refused review, without an API server",
		About: fmt.Sprintf("%d connections send the review of a Workload that adds a capability its class does not grant, as an API server would send it,\n"+
			"straight to the webhook. The first baseline is a webhook built with controller-runtime that decodes no object and says yes. The\n"+
			"second is the Pod Security webhook (%s), which refuses a Pod of one equal container.",
			connections, "`k8s.io/pod-security-admission/cmd/webhook`"),
		Notes: []string{"By the profile, 38 % of the processor time that a refusal takes in the webhook is Causeway's own: 10 % reads the review, 16 % judges it\n" +
			"(4 % of it decodes the object, 4 % asks the cache for the classes, 4 % finds and words the causes), 4 % writes the answer. The rest is\n" +
			"HTTP/2, TLS and system calls, which a no-op pays as well, and garbage collection. A no-op decodes the review alone and answers in a\n" +
			"line; what is left between the two is the object and the causes."},
		Measures: []report.Measure{
			{
				Name: "reviews, to a no-op", Unit: "reviews/s", Baseline: "a no-op webhook", AA: pairs.Of(taken[0], half.throughput),
				Rows: []report.Row{{Name: "Causeway", Series: pairs.Of(taken[1], half.throughput), Bar: pairs.AtLeast(0.95)}},
			},
			{
				Name: "reviews, to Pod Security", Unit: "reviews/s", Baseline: "the Pod Security webhook", AA: pairs.Of(taken[2], half.throughput),
				Rows: []report.Row{{Name: "Causeway", Series: pairs.Of(taken[3], half.throughput), Bar: pairs.AtLeast(1.10)}},
			},
		},
	}, nil
}

// newReviewClients makes so many, each with a connection of its own, which is
// HTTP/2 as an API server's is.
func newReviewClients(base string, count int) []writer {
	clients := make([]writer, count)
	for i := range clients {
		clients[i] = writer{base: base, http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{
			ForceAttemptHTTP2: true,
			// This process started what answers.
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		}}}
	}
	return clients
}

// startPodSecurity runs the Pod Security webhook beside a control plane.
func startPodSecurity(ctx context.Context, e *env, plane *environment.Environment) (*environment.Process, error) {
	e.say("building the Pod Security webhook")
	program := filepath.Join(e.dir, "podsecurity")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	build.Dir = filepath.Join(environment.Root(), "test", "bench", "podsecurity")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the Pod Security webhook: %w\n%s", err, out)
	}
	kubeconfig, config := filepath.Join(e.dir, "podsecurity.kubeconfig"), filepath.Join(e.dir, "podsecurity.yaml")
	if err := controlplane.WriteKubeconfig(kubeconfig, plane.AdminConfig()); err != nil {
		return nil, err
	}
	if err := os.WriteFile(config, []byte(podSecurityConfig), 0o600); err != nil {
		return nil, fmt.Errorf("configuring the Pod Security webhook: %w", err)
	}
	return environment.StartProcess(ctx, "podsecurity", program, nil, "--kubeconfig="+kubeconfig, "--cert-dir="+plane.CertDir(), "--config="+config)
}

const podSecurityConfig = `apiVersion: pod-security.admission.config.k8s.io/v1
kind: PodSecurityConfiguration
defaults: {enforce: restricted, enforce-version: latest}
`

func addRefusingClass(ctx context.Context, e *environment.Environment) error {
	admin, err := e.Client(controlplane.Installer)
	if err != nil {
		return err
	}
	if err := admin.Create(ctx, computeapi.NewRuntimeClass(refusingClass, []string{"NET_BIND_SERVICE"})); err != nil {
		return fmt.Errorf("publishing class %s: %w", refusingClass, err)
	}
	return nil
}

// workloadReview is the review of a Workload that Causeway refuses.
func workloadReview() ([]byte, error) {
	return reviewOf(
		metav1.GroupVersionKind{Group: computeapi.GroupVersion.Group, Version: computeapi.GroupVersion.Version, Kind: "Workload"}, "workloads",
		computeapi.NewWorkload("default", "shop", computeapi.WithClass(refusingClass),
			computeapi.WithDrop("ALL"), computeapi.WithAdd(refusedCapability)))
}

// podReview is the review of a Pod whose only fault is the same as the Workload's.
func podReview() ([]byte, error) {
	return reviewOf(metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, "pods", &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"},
		Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "app", Image: "registry.example/app:1",
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{refusedCapability}},
				},
			}},
		},
	})
}

// reviewOf is what an API server sends when an object is created.
func reviewOf(kind metav1.GroupVersionKind, resource string, object any) ([]byte, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	gvr := metav1.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: resource}
	return json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "8d1f0c4e-5b0f-4c47-8a64-1f2a3b4c5d6e", Kind: kind, Resource: gvr, RequestKind: &kind, RequestResource: &gvr,
			Namespace: "default", Name: "shop", Operation: admissionv1.Create,
			UserInfo: authenticationv1.UserInfo{Username: environment.Customer, Groups: []string{"system:authenticated"}},
			Object:   runtime.RawExtension{Raw: raw},
			DryRun:   ptr.To(false),
			Options:  runtime.RawExtension{Raw: []byte(`{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","fieldManager":"kubectl-create"}`)},
		},
	})
}
