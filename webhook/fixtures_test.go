package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// everyCapability is the closed list of the RuntimeClass schema.
var everyCapability = []string{
	"AUDIT_CONTROL", "AUDIT_READ", "AUDIT_WRITE", "BLOCK_SUSPEND", "BPF", "CHECKPOINT_RESTORE", "CHOWN", "DAC_OVERRIDE",
	"DAC_READ_SEARCH", "FOWNER", "FSETID", "IPC_LOCK", "IPC_OWNER", "KILL", "LEASE", "LINUX_IMMUTABLE", "MAC_ADMIN",
	"MAC_OVERRIDE", "MKNOD", "NET_ADMIN", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_RAW", "PERFMON", "SETFCAP", "SETGID",
	"SETPCAP", "SETUID", "SYSLOG", "SYS_ADMIN", "SYS_BOOT", "SYS_CHROOT", "SYS_MODULE", "SYS_NICE", "SYS_PACCT",
	"SYS_PTRACE", "SYS_RAWIO", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "WAKE_ALARM",
}

func granting(name string, names ...string) RuntimeClass {
	c := RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.Capabilities.Features = []string{"sandboxRuntime", FeatureContainerCapabilities}
	c.Spec.Capabilities.GrantableCapabilities = names
	return c
}

func featureless(name string) RuntimeClass {
	c := RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.Capabilities.Features = []string{"sandboxRuntime"}
	return c
}

func defaulted(c RuntimeClass) RuntimeClass {
	c.Spec.Default = true
	return c
}

func giving(c RuntimeClass, defaults ...string) RuntimeClass {
	c.Spec.DefaultSecurityContext = &DefaultSecurityContext{Capabilities: &Capabilities{Add: defaults}}
	return c
}

// published are the classes most tests judge by: "unikernel" is the default and
// grants nothing, "web" grants one name, "general-purpose" everything.
func published() []RuntimeClass {
	return []RuntimeClass{
		defaulted(featureless("unikernel")),
		granting("web", "NET_BIND_SERVICE"),
		granting("general-purpose", everyCapability...),
	}
}

// stored gives classes what an API server gives them; others are never taken for
// the same by what read them before.
func stored(classes []RuntimeClass) []RuntimeClass {
	for i := range classes {
		classes[i].UID, classes[i].ResourceVersion = types.UID("uid-of-"+classes[i].Name), strconv.Itoa(100+i)
	}
	return classes
}

// box is a container under construction.
type box struct {
	name      string
	add, drop []string
}

func ctr(name string, add ...string) box { return box{name: name, add: add} }

func (b box) dropping(names ...string) box {
	b.drop = names
	return b
}

func runtimeOf(class string, boxes ...box) *Runtime {
	r := &Runtime{Class: class, Sandbox: &Sandbox{}}
	for _, b := range boxes {
		r.Sandbox.Containers = append(r.Sandbox.Containers, Container{
			Name:            b.name,
			SecurityContext: &SecurityContext{Capabilities: &Capabilities{Add: b.add, Drop: b.drop}},
		})
	}
	return r
}

// objects as the API server would send them, with fields that are not decoded.

type tweak func(map[string]any)

func deleting(o map[string]any) {
	o["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
}

func labelled(value string) tweak {
	return func(o map[string]any) {
		o["metadata"].(map[string]any)["labels"] = map[string]any{"team": value}
	}
}

func owned(kind, name, uid string, controller bool) tweak {
	return func(o map[string]any) {
		o["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
			"apiVersion": "compute.datumapis.com/v1alpha", "kind": kind, "name": name, "uid": uid, "controller": controller,
		}}
	}
}

func workloadRef(name, uid string) tweak {
	return func(o map[string]any) {
		o["spec"].(map[string]any)["workloadRef"] = map[string]any{"name": name, "uid": uid}
	}
}

func object(t testing.TB, kind, name string, r *Runtime, tweaks ...tweak) []byte {
	t.Helper()
	var rt map[string]any
	require.NoError(t, json.Unmarshal(encode(t, r), &rt))
	rt["resources"] = map[string]any{"instanceType": "datumcloud/d1-standard-2"}
	spec := map[string]any{"runtime": rt, "networkInterfaces": []any{map[string]any{"network": map[string]any{"name": "default"}}}}
	if kind != "Instance" {
		spec = map[string]any{"template": map[string]any{"spec": spec}}
	}
	o := map[string]any{
		"apiVersion": "compute.datumapis.com/v1alpha", "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": "default", "uid": "uid-of-" + name},
		"spec":     spec,
	}
	for _, tw := range tweaks {
		tw(o)
	}
	return encode(t, o)
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}

func request(r *resource, op admissionv1.Operation, name string, updated, old []byte) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID:       "review-1",
		Kind:      metav1.GroupVersionKind{Group: Group, Version: "v1alpha", Kind: r.kind},
		Resource:  metav1.GroupVersionResource{Group: Group, Version: "v1alpha", Resource: r.name},
		Name:      name,
		Namespace: "default",
		Operation: op,
		Object:    runtime.RawExtension{Raw: updated},
		OldObject: runtime.RawExtension{Raw: old},
	}}
}

func created(r *resource, name string, updated []byte) admission.Request {
	return request(r, admissionv1.Create, name, updated, nil)
}

func updatedFrom(r *resource, name string, updated, old []byte) admission.Request {
	return request(r, admissionv1.Update, name, updated, old)
}

// reader is an API server, or a cache, of the least kind.
type reader struct {
	classes []RuntimeClass
	objects []client.Object
	// listErr and getErr are returned where they are set; onList and onGet run
	// first.
	listErr, getErr error
	onList, onGet   func(context.Context)
	lists, gets     atomic.Int32
}

var _ client.Reader = (*reader)(nil)

func (r *reader) List(ctx context.Context, list client.ObjectList, _ ...client.ListOption) error {
	r.lists.Add(1)
	if r.onList != nil {
		r.onList(ctx)
	}
	if r.listErr != nil {
		return r.listErr
	}
	list.(*RuntimeClassList).Items = r.classes
	return ctx.Err()
}

func (r *reader) Get(ctx context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	r.gets.Add(1)
	if r.onGet != nil {
		r.onGet(ctx)
	}
	if r.getErr != nil {
		return r.getErr
	}
	for _, o := range r.objects {
		if o.GetName() != key.Name || o.GetNamespace() != key.Namespace {
			continue
		}
		switch into := into.(type) {
		case *Workload:
			if w, ok := o.(*Workload); ok {
				*into = *w.DeepCopy()
				return nil
			}
		case *WorkloadDeployment:
			if d, ok := o.(*WorkloadDeployment); ok {
				*into = *d.DeepCopy()
				return nil
			}
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: Group, Resource: fmt.Sprintf("%T", into)}, key.Name)
}

// decoded returns a stored object for reader.
func decoded[T any](t testing.TB, raw []byte) *T {
	t.Helper()
	into := new(T)
	require.NoError(t, decode(raw, into))
	return into
}

// hook builds the endpoints over one reader for both purposes, and returns that
// of a resource.
func hook(t testing.TB, r *resource, live *reader, change ...func(*Options)) *reviewer {
	t.Helper()
	o := Options{Classes: live, Live: live, Registerer: prometheus.NewRegistry()}
	for _, c := range change {
		c(&o)
	}
	w, err := New(o)
	require.NoError(t, err)
	return w.Handlers()[r.path].(*reviewer)
}

func indented(t testing.TB, v any) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, json.Indent(&out, encode(t, v), "", "  "))
	return out.String()
}

// counted reads one series.
func counted(t testing.TB, c prometheus.Counter) int {
	t.Helper()
	require.NotNil(t, c, "there is no such series")
	var m dto.Metric
	require.NoError(t, c.Write(&m))
	return int(m.GetCounter().GetValue())
}

func newRegistry() *prometheus.Registry { return prometheus.NewRegistry() }
