package deploy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/install"
)

// nextVersion builds the binary again under another version.
func nextVersion(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "causeway")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-X main.version=next", "-o", path, "./cmd/causeway")
	build.Dir = environment.Root()
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// A rolling update under traffic, and back: the webhook of one version beside the statuspatch of the other, both ways. Every
// review is answered rightly, no Instance write fails, and an Instance that serves never has its Workload marked down.
func TestRollingUpdatesUnderTraffic(t *testing.T) {
	r := started(t, overlay("default"), controlplane.Options{})
	refusal := newService(t)
	options := r.options
	options.WebhookURL = func(service string) string {
		if service == "causeway-webhook" {
			return refusal.url()
		}
		return r.options.WebhookURL(service)
	}
	require.NoError(t, install.Install(t.Context(), r.AdminConfig(), r.objects, options))
	c := clientFor(t, r.AdminConfig())
	require.NoError(t, c.Create(t.Context(), computeapi.NewRuntimeClass("web", []string{"NET_BIND_SERVICE"}, computeapi.AsDefault)))
	old, err := binary()
	require.NoError(t, err)
	next := nextVersion(t)

	// As in deploy/, a new one is ready before an old one is told to stop; the delay is shorter than a kubelet's, since
	// here nobody has to hear of it.
	webhook := r.startBinary(t, old, "webhook", "--shutdown-delay=500ms")
	refusal.set(webhook)
	sidecar := r.startBinary(t, old, "statuspatch")
	serving, failing := newFamily(t, c, "default", "serving"), newFamily(t, c, "default", "failing")
	waitUntil(t, "the webhooks to be called", func() (bool, string) {
		require.NoError(t, serving.recovers(t.Context()))
		require.NoError(t, failing.crash(t.Context(), "At first."))
		up, _ := serving.says(t)
		down, _ := failing.says(t)
		refused := c.Create(t.Context(), computeapi.NewWorkload("default", "adds", computeapi.WithAdd("SYS_ADMIN")), client.DryRunAll)
		return strings.HasPrefix(up, "True/") && down == crashed+"At first." && refused != nil, up + " and " + down
	})

	traffic := newTraffic(t, r, serving, failing)
	rollWebhook := func(to string) {
		fresh := r.startBinary(t, to, "webhook", "--shutdown-delay=500ms")
		refusal.set(webhook, fresh)
		gone := webhook
		webhook = fresh
		require.NoError(t, gone.Stop())
		refusal.set(webhook)
		traffic.goesOn(t)
	}
	rollSidecar := func(to string) {
		fresh := r.startBinary(t, to, "statuspatch")
		require.NoError(t, sidecar.Stop())
		sidecar = fresh
		traffic.goesOn(t)
		waitUntil(t, "the truth", func() (bool, string) {
			deployment, workload := failing.says(t)
			return deployment == workload && strings.HasPrefix(deployment, crashed), deployment + " and " + workload
		})
	}
	rollWebhook(next)
	assert.Contains(t, webhook.Log(), `"version":"next `)
	rollSidecar(next)
	rollWebhook(old)
	rollSidecar(old)
	traffic.stop(t)

	require.NoError(t, failing.crash(t.Context(), "At last."))
	failing.saysSoon(t, crashed+"At last.")
}

// traffic is what customers and a provider do meanwhile, and a customer who watches.
type traffic struct {
	cancel context.CancelFunc
	group  sync.WaitGroup
	mu     sync.Mutex
	rounds map[string]int
	wrong  []string
}

func newTraffic(t *testing.T, r *running, serving, failing *family) *traffic {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	f := &traffic{cancel: cancel, rounds: map[string]int{}}
	t.Cleanup(func() { cancel(); f.group.Wait() })
	c := clientFor(t, r.AdminConfig())
	f.keep(ctx, "refused", func(int) string {
		err := c.Create(ctx, computeapi.NewWorkload("default", "adds", computeapi.WithAdd("SYS_ADMIN")), client.DryRunAll)
		if err == nil {
			return "was stored"
		}
		if !strings.Contains(err.Error(), `capability "SYS_ADMIN" is not granted`) {
			return err.Error()
		}
		return ""
	})
	f.keep(ctx, "granted", func(int) string {
		return message(c.Create(ctx, computeapi.NewWorkload("default", "grants", computeapi.WithAdd("NET_BIND_SERVICE")), client.DryRunAll))
	})
	f.keep(ctx, "failing", func(i int) string { return message(failing.crash(ctx, "Turn "+strconv.Itoa(i)+".")) })
	f.keep(ctx, "serving", func(i int) string { return message(serving.serves(ctx, "Turn "+strconv.Itoa(i)+".")) })
	f.watch(t, ctx, r, serving)
	return f
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// keep does one thing again and again; an answer that is not empty is wrong.
func (f *traffic) keep(ctx context.Context, what string, once func(int) string) {
	f.group.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			wrong := once(i)
			if ctx.Err() != nil {
				return
			}
			f.note(what, wrong)
		}
	})
}

func (f *traffic) note(what, wrong string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rounds[what]++
	if wrong != "" {
		f.wrong = append(f.wrong, what+": "+wrong)
	}
}

// watch sees every version of the serving Workload.
func (f *traffic) watch(t *testing.T, ctx context.Context, r *running, serving *family) {
	t.Helper()
	c, err := dynamic.NewForConfig(r.AdminConfig())
	require.NoError(t, err)
	events, err := c.Resource(resource("workloads")).Namespace("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + serving.workload.Name})
	require.NoError(t, err)
	f.group.Go(func() {
		defer events.Stop()
		for event := range events.ResultChan() {
			o, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				if ctx.Err() == nil {
					f.note("watch", fmt.Sprintf("%s: %v", event.Type, event.Object))
				}
				return
			}
			var w computeapi.Workload
			convert(t, o, &w)
			wrong := ""
			if s := computeapi.Summary(w.Status.Conditions, computeapi.AvailableCondition); !strings.HasPrefix(s, "True/") {
				wrong = "marked down: " + s
			}
			f.note("watch", wrong)
		}
	})
}

// goesOn waits until everybody has been answered ten times more.
func (f *traffic) goesOn(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	from := map[string]int{}
	for what, n := range f.rounds {
		from[what] = n
	}
	f.mu.Unlock()
	for _, what := range []string{"refused", "granted", "failing", "serving"} {
		waitUntil(t, "ten more answers to "+what, func() (bool, string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.rounds[what] >= from[what]+10, strconv.Itoa(f.rounds[what] - from[what])
		})
	}
}

func (f *traffic) stop(t *testing.T) {
	t.Helper()
	f.cancel()
	f.group.Wait()
	assert.Empty(t, f.wrong)
	t.Logf("answered: %v", f.rounds)
}
