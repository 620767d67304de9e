package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
)

// refusals is a scene in which the whole answer to a request counts, warnings
// included. Its subtests share it, so each uses names of its own.
type refusals struct {
	*scene
	// asking is the customer, whose warnings are heard by ask, and who is never
	// ahead of the API server's cache.
	asking client.Client
	// operator publishes runtime classes and installs.
	operator client.Client
	system   kubernetes.Interface
}

// startRefusals starts the refusal alone, with the classes of these tests
// beside the two published ones:
//
//	edge             NET_ADMIN, NET_BIND_SERVICE
//	general-purpose  everything, and adds ten by default
//	unikernel        nothing, has not even the feature; the default class
//	web              NET_BIND_SERVICE
func startRefusals(t *testing.T, options environment.Options) *refusals {
	t.Helper()
	options.DeployOverlay = "refusal-only"
	options.Webhook = 1
	s := start(t, options)
	r := &refusals{scene: s}

	heard := s.Config(environment.Customer)
	heard.WarningHandlerWithContext = listener{}
	heard, err := newCaughtUp(heard)
	require.NoError(t, err)
	r.asking, err = client.New(heard, client.Options{Scheme: s.customer.Scheme()})
	require.NoError(t, err)
	r.operator, err = s.Client(controlplane.Installer)
	require.NoError(t, err)
	r.system, err = kubernetes.NewForConfig(s.AdminConfig())
	require.NoError(t, err)

	r.publish(computeapi.NewRuntimeClass("edge", []string{"NET_ADMIN", "NET_BIND_SERVICE"}))
	r.publish(computeapi.NewRuntimeClass("web", []string{"NET_BIND_SERVICE"}))
	if len(options.Without) == 0 {
		r.inForce()
	}
	t.Cleanup(func() {
		if !t.Failed() {
			r.noEvaluationErrors(context.WithoutCancel(r.ctx), t)
		}
	})
	return r
}

// inForce returns when the API server asks the webhook and that knows the
// classes of startRefusals.
func (r *refusals) inForce() {
	r.t.Helper()
	probe := workload("probe", computeapi.WithClass("nosuch"), computeapi.WithAdd("CHOWN"))
	r.until(probe, invalid("Workload", "probe", metav1.StatusCause{
		Type: metav1.CauseTypeFieldValueNotSupported, Field: "spec.template.spec.runtime.class",
		Message: `Unsupported value: "nosuch": runtime class "nosuch" does not exist; ` +
			`there are "edge", "general-purpose", "unikernel", "web"`,
	}))
}

// run runs a subtest.
func (r *refusals) run(name string, test func(*refusals)) {
	r.t.Run(name, func(t *testing.T) {
		own := *r.scene
		own.t = t
		test(&refusals{scene: &own, asking: r.asking, operator: r.operator, system: r.system})
	})
}

// answer is all that a client is told.
type answer struct {
	// Status is nil for a request that was accepted.
	Status   *metav1.Status
	Warnings []string
}

func (a answer) String() string {
	if a.Status == nil {
		return fmt.Sprintf("accepted, warnings %q", a.Warnings)
	}
	return fmt.Sprintf("%d %s: %s, warnings %q", a.Status.Code, a.Status.Reason, a.Status.Message, a.Warnings)
}

// accepted is the answer to a request that is carried out.
func accepted(warnings ...string) answer { return answer{Warnings: warnings} }

// invalid is the answer of the capability webhook of that kind.
func invalid(kind, name string, causes ...metav1.StatusCause) answer {
	texts := make([]string, len(causes))
	for i, c := range causes {
		texts[i] = c.Field + ": " + c.Message
	}
	text := strings.Join(texts, ", ")
	if len(causes) > 1 {
		text = "[" + text + "]"
	}
	return answer{Status: &metav1.Status{
		Status: metav1.StatusFailure,
		Message: fmt.Sprintf("admission webhook %q denied the request: %s.compute.datumapis.com %q is invalid: %s",
			webhookOf(kind), kind, name, text),
		Reason:  metav1.StatusReasonInvalid,
		Details: &metav1.StatusDetails{Name: name, Group: computeapi.Group, Kind: kind, Causes: causes},
		Code:    422,
	}}
}

func webhookOf(kind string) string { return strings.ToLower(kind) + "s.capabilities.causeway.dev" }

// runtimeAt leads to the runtime of a kind.
func runtimeAt(kind string) string {
	if kind == "Instance" {
		return "spec.runtime"
	}
	return "spec.template.spec.runtime"
}

// forbidden is the cause at an entry of a container's add in a Workload; with a
// negative entry, at the list.
func forbidden(container, entry int, text string) metav1.StatusCause {
	return forbiddenIn("Workload", container, entry, text)
}

func forbiddenIn(kind string, container, entry int, text string) metav1.StatusCause {
	return metav1.StatusCause{Type: metav1.CauseTypeForbidden, Field: addAt(kind, container, entry), Message: "Forbidden: " + text}
}

func addAt(kind string, container, entry int) string {
	at := fmt.Sprintf("%s.sandbox.containers[%d].securityContext.capabilities.add", runtimeAt(kind), container)
	if entry >= 0 {
		at += fmt.Sprintf("[%d]", entry)
	}
	return at
}

// listener hands a warning to the request that it answers.
type listener struct{}

type heardKey struct{}

func (listener) HandleWarningHeaderWithContext(ctx context.Context, _ int, _, text string) {
	if heard, ok := ctx.Value(heardKey{}).(*[]string); ok {
		*heard = append(*heard, text)
	}
}

// ask sends one request with the customer's client and returns the answer.
func (r *refusals) ask(request func(ctx context.Context, c client.Client) error) answer {
	r.t.Helper()
	var heard []string
	err := request(context.WithValue(r.ctx, heardKey{}, &heard), r.asking)
	if err == nil {
		return answer{Warnings: heard}
	}
	var refused *apierrors.StatusError
	require.ErrorAs(r.t, err, &refused)
	// Decoding drops or keeps it by the way the answer was read.
	refused.ErrStatus.TypeMeta = metav1.TypeMeta{}
	return answer{Status: &refused.ErrStatus, Warnings: heard}
}

// create, update and the others do one thing, and fill the object in if it
// works.
func (r *refusals) create(o client.Object, opts ...client.CreateOption) answer {
	r.t.Helper()
	return r.ask(func(ctx context.Context, c client.Client) error { return c.Create(ctx, o, opts...) })
}

func (r *refusals) update(o client.Object) answer {
	r.t.Helper()
	return r.ask(func(ctx context.Context, c client.Client) error { return c.Update(ctx, o) })
}

func (r *refusals) delete(o client.Object) answer {
	r.t.Helper()
	return r.ask(func(ctx context.Context, c client.Client) error { return c.Delete(ctx, o) })
}

// patch sends a JSON merge patch.
func (r *refusals) patch(o client.Object, patch string) answer {
	r.t.Helper()
	return r.ask(func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch)))
	})
}

// apply is `kubectl apply --server-side`.
func (r *refusals) apply(o client.Object) answer {
	r.t.Helper()
	u := r.plain(o)
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	unstructured.RemoveNestedField(u.Object, "metadata", "resourceVersion")
	return r.ask(func(ctx context.Context, c client.Client) error {
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("kubectl"), client.ForceOwnership)
	})
}

// must fails the test if a request is not simply accepted.
func (r *refusals) must(a answer) {
	r.t.Helper()
	require.Equal(r.t, accepted(), a)
}

// until waits for a change of classes, rights or the configuration to count:
// until a dry run of creating the object is answered so.
func (r *refusals) until(o client.Object, want answer) {
	r.t.Helper()
	r.waitFor("the answer about "+o.GetName(), func() (bool, string) {
		got := r.create(o.DeepCopyObject().(client.Object), client.DryRunAll)
		return reflect.DeepEqual(got, want), got.String()
	})
}

// plain is an object as JSON has it.
func (r *refusals) plain(o client.Object) *unstructured.Unstructured {
	r.t.Helper()
	u := &unstructured.Unstructured{}
	text, err := json.Marshal(o)
	require.NoError(r.t, err)
	require.NoError(r.t, json.Unmarshal(text, &u.Object))
	// A typed client leaves it out of what it read.
	kind, err := r.asking.GroupVersionKindFor(o)
	require.NoError(r.t, err)
	u.SetGroupVersionKind(kind)
	return u
}

// workload is a Workload of these tests.
func workload(name string, tweaks ...computeapi.WorkloadTweak) *computeapi.Workload {
	return computeapi.NewWorkload(namespace, name, tweaks...)
}

// inContainer lets the container of that index add.
func inContainer(i int, add ...string) computeapi.WorkloadTweak {
	return func(w *computeapi.Workload) { setAdd(w, i, add...) }
}

// setAdd replaces what a container of a template adds.
func setAdd(w *computeapi.Workload, container int, add ...string) {
	w.Spec.Template.Spec.Runtime.Sandbox.Containers[container].SecurityContext =
		&computeapi.SecurityContext{Capabilities: &computeapi.Capabilities{Add: add}}
}

// deploymentFor is a deployment that a Workload owns, with its template.
func deploymentFor(w *computeapi.Workload, name string) *computeapi.WorkloadDeployment {
	return &computeapi.WorkloadDeployment{
		TypeMeta: metav1.TypeMeta{APIVersion: computeapi.GroupVersion.String(), Kind: "WorkloadDeployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(w, computeapi.GroupVersion.WithKind("Workload")),
		}},
		Spec: computeapi.WorkloadDeploymentSpec{
			WorkloadRef:   computeapi.WorkloadReference{Name: w.Name, UID: w.UID},
			PlacementName: "main",
			LocationRef:   &computeapi.LocationReference{Name: "us"},
			Template:      *w.Spec.Template.DeepCopy(),
			ScaleSettings: w.Spec.Placements[0].ScaleSettings,
		},
	}
}

// instanceFor is an Instance that a deployment owns, with its template.
func instanceFor(d *computeapi.WorkloadDeployment, name string) *computeapi.Instance {
	return &computeapi.Instance{
		TypeMeta: metav1.TypeMeta{APIVersion: computeapi.GroupVersion.String(), Kind: "Instance"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(d, computeapi.GroupVersion.WithKind("WorkloadDeployment")),
		}},
		Spec: *d.Spec.Template.Spec.DeepCopy(),
	}
}

// publish creates a runtime class, or makes it as given.
func (r *refusals) publish(class *computeapi.RuntimeClass) {
	r.t.Helper()
	err := r.operator.Create(r.ctx, class.DeepCopy())
	if apierrors.IsAlreadyExists(err) {
		stored := &computeapi.RuntimeClass{}
		require.NoError(r.t, r.operator.Get(r.ctx, client.ObjectKeyFromObject(class), stored))
		stored.Spec = class.Spec
		err = r.operator.Update(r.ctx, stored)
	}
	require.NoError(r.t, err)
}

// setDefaults makes these the default classes, and no others.
func (r *refusals) setDefaults(names ...string) {
	r.t.Helper()
	var classes computeapi.RuntimeClassList
	require.NoError(r.t, r.operator.List(r.ctx, &classes))
	for i := range classes.Items {
		class := &classes.Items[i]
		if isDefault := slices.Contains(names, class.Name); class.Spec.Default != isDefault {
			class.Spec.Default = isDefault
			require.NoError(r.t, r.operator.Update(r.ctx, class))
		}
	}
}

// exists tells whether an object is stored.
func (r *refusals) exists(o client.Object) bool {
	r.t.Helper()
	err := r.customer.Get(r.ctx, client.ObjectKeyFromObject(o), o.DeepCopyObject().(client.Object))
	require.NoError(r.t, client.IgnoreNotFound(err))
	return err == nil
}

// metric is one series.
type metric struct {
	labels map[string]string
	value  float64
}

var (
	series = regexp.MustCompile(`^(\w+)(?:\{(.*)\})? (\S+)$`)
	label  = regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)
)

// metricsNamed returns the series of a name that are not zero. The API server
// has megabytes of others, which are not looked into.
func metricsNamed(text, name string) []metric {
	var out []metric
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, name) {
			continue
		}
		m := series.FindStringSubmatch(line)
		if m == nil || m[1] != name {
			continue
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil || value == 0 {
			continue
		}
		labels := map[string]string{}
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			labels[l[1]] = l[2]
		}
		out = append(out, metric{labels, value})
	}
	return out
}

// calls counts reviews by resource and outcome: those that the running webhook
// processes answered, and below the name of the webhook those that the API
// server sent, whatever came of them.
func (r *refusals) calls() map[string]float64 {
	r.t.Helper()
	out := map[string]float64{}
	for _, p := range r.Webhooks {
		if p.Ended() {
			continue
		}
		text, err := p.Metrics(r.ctx)
		require.NoError(r.t, err)
		for _, m := range metricsNamed(text, "causeway_capability_reviews_total") {
			out[m.labels["resource"]+" "+m.labels["outcome"]] += m.value
		}
	}
	for _, m := range metricsNamed(r.serverMetrics(r.ctx), "apiserver_admission_webhook_request_total") {
		out[m.labels["name"]] += m.value
	}
	return out
}

// since is what has been counted beyond an earlier count.
func since(before, after map[string]float64) map[string]float64 {
	out := maps.Clone(after)
	for k, v := range before {
		if out[k] -= v; out[k] == 0 {
			delete(out, k)
		}
	}
	return out
}

// serverMetrics is what the API server says about itself.
func (r *refusals) serverMetrics(ctx context.Context) string {
	r.t.Helper()
	text, err := r.system.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	require.NoError(r.t, err)
	return string(text)
}

// noEvaluationErrors fails the test if a match condition could not be
// evaluated: that refuses a Workload and lets its children pass unseen.
func (r *refusals) noEvaluationErrors(ctx context.Context, t *testing.T) {
	t.Helper()
	text := r.serverMetrics(ctx)
	assert.NotEmpty(t, metricsNamed(text, "apiserver_admission_match_condition_evaluation_seconds_count"), "conditions evaluated")
	assert.Empty(t, metricsNamed(text, "apiserver_admission_match_condition_evaluation_errors_total"))
}

// alwaysAnswered fails the test if a call of the webhook came to nothing.
func (r *refusals) alwaysAnswered() {
	r.t.Helper()
	text := r.serverMetrics(r.ctx)
	refused := metricsNamed(text, "apiserver_admission_webhook_rejection_count")
	assert.NotEmpty(r.t, refused)
	for _, m := range refused {
		assert.Equal(r.t, "no_error", m.labels["error_type"], m.labels)
	}
	assert.Empty(r.t, metricsNamed(text, "apiserver_admission_webhook_fail_open_count"))
}

var codecs = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()

// objectName makes a name of those of a subtest.
func objectName(parts ...string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(strings.Join(parts, "-")))
	return strings.Trim(name, "-")
}
