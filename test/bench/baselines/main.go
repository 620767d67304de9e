// Command baselines serves the webhooks on Instance statuses that Causeway is
// compared with, built with controller-runtime:
//
//	/yes    allows and does nothing else
//	/naive  patches both parents of the Instance, retrying conflicts, and allows
//
// It takes the flags and logs the lines by which package environment runs a
// causeway process, so that both run alike.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how /naive reaches the API server")
	certDir := flag.String("cert-dir", "", "the folder of tls.crt and tls.key")
	for _, name := range []string{"port", "health-probe-bind-address", "metrics-bind-address", "log-format"} {
		_ = flag.String(name, "", "taken and not used: there is one server, on a free port")
	}
	flag.Parse()
	crlog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *kubeconfig, *certDir); err != nil {
		fmt.Fprintln(os.Stderr, "baselines:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, kubeconfig, certDir string) error {
	naive, err := newNaive(kubeconfig)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for path, handler := range map[string]admission.Handler{"/yes": admission.HandlerFunc(yes), "/naive": naive} {
		h, err := admission.StandaloneWebhook(&admission.Webhook{Handler: handler}, admission.StandaloneOptions{MetricsPath: path})
		if err != nil {
			return err
		}
		mux.Handle(path, h)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	for _, server := range []string{"reviews", "probes", "metrics"} {
		log.Info("Serving", "server", server, "address", listener.Addr().String())
	}
	server := &http.Server{Handler: mux}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	err = server.ServeTLS(listener, filepath.Join(certDir, "tls.crt"), filepath.Join(certDir, "tls.key"))
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func yes(context.Context, admission.Request) admission.Response { return admission.Allowed("") }

// naive is the obvious way to carry a reason up: for each review, each parent is
// read, changed and sent back, and tried again where somebody else was first.
type naive struct {
	client  client.Client
	decoder admission.Decoder
}

func newNaive(kubeconfig string) (*naive, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := computeapi.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	return &naive{client: c, decoder: admission.NewDecoder(scheme)}, err
}

// Handle allows whatever becomes of the parents, as Causeway does.
func (n *naive) Handle(ctx context.Context, request admission.Request) admission.Response {
	var instance computeapi.Instance
	if err := n.decoder.Decode(request, &instance); err != nil {
		return admission.Allowed("").WithWarnings(err.Error())
	}
	reason := computeapi.Condition(instance.Status.Conditions, computeapi.ReadyCondition)
	if reason == nil || len(instance.OwnerReferences) == 0 {
		return admission.Allowed("")
	}
	var deployment computeapi.WorkloadDeployment
	key := types.NamespacedName{Namespace: instance.Namespace, Name: instance.OwnerReferences[0].Name}
	err := n.patch(ctx, key, &deployment, func() *[]metav1.Condition { return &deployment.Status.Conditions }, reason)
	if err == nil {
		var workload computeapi.Workload
		key.Name = deployment.Spec.WorkloadRef.Name
		err = n.patch(ctx, key, &workload, func() *[]metav1.Condition { return &workload.Status.Conditions }, reason)
	}
	if err != nil {
		return admission.Allowed("").WithWarnings(err.Error())
	}
	return admission.Allowed("")
}

// patch sets Available of a parent to what the Instance says.
func (n *naive) patch(ctx context.Context, key types.NamespacedName, parent client.Object, conditions func() *[]metav1.Condition, reason *metav1.Condition) error {
	return retry.OnError(retry.DefaultBackoff, func(error) bool { return ctx.Err() == nil }, func() error {
		if err := n.client.Get(ctx, key, parent); err != nil {
			return err
		}
		changed := append([]metav1.Condition(nil), *conditions()...)
		if available := computeapi.Condition(changed, computeapi.AvailableCondition); available != nil {
			available.Status, available.Reason, available.Message = reason.Status, reason.Reason, reason.Message
		}
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": parent.GetResourceVersion()},
			"status":   map[string]any{"conditions": changed},
		})
		if err != nil {
			return err
		}
		return n.client.Status().Patch(ctx, parent, client.RawPatch(types.MergePatchType, patch))
	})
}
