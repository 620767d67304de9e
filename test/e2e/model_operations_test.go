package e2e

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/statuspatch/rollup"
	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/platform"
)

// marked is the text that another webhook rejects in the status of an Instance.
const marked = "reject-me"

// holdFinalizer keeps a Workload that is being deleted.
const holdFinalizer = "example.com/hold"

func (m *model) operations() []op {
	return []op{
		{"create", 6, m.createWorkload},
		{"scale", 3, m.scale},
		{"delete workload", 2, m.deleteWorkload},
		{"let go of workload", 2, m.releaseWorkload},
		{"delete deployment", 1, m.deleteDeployment},
		{"delete instance", 4, m.deleteInstance},
		{"provider finds", 20, m.providerFinds},
		{"all crash", 2, m.allCrash},
		{"instance written by hand", 6, m.writeInstance},
		{"ghost", 5, m.ghost},
		{"dry run", 2, m.dryRun},
		{"parent overwritten", 10, m.overwriteParent},
		{"conditions emptied", 2, m.emptyConditions},
		{"burst", 3, m.burst},
		{"platform learns", 8, m.platformLearns},
		{"suspend", 2, m.suspend},
		{"pause", 2, m.pause},
		{"webhooks away", 3, func() string { m.StatusFront.SetOpen(false); return "now" }},
		{"webhooks back", 3, func() string { m.StatusFront.SetOpen(true); return "now" }},
		{"process in order", 1, m.handOver},
		{"process killed", 1, m.killProcess},
	}
}

// passing are errors that any writer may meet here: others write as well, and
// delete.
func (m *model) passing(err error) {
	m.t.Helper()
	if err == nil || apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) ||
		errors.Is(err, platform.ErrNotRunnable) {
		return
	}
	assert.NoError(m.t, err)
}

func (m *model) createWorkload() string {
	w := computeapi.NewWorkload(namespace, choose(m, "api", "web", "job"))
	w.Spec.Placements = nil
	for _, name := range []string{"main", "spare"}[:1+m.random.IntN(2)] {
		locations := choose(m, []string{"us"}, []string{"eu"}, []string{"us", "eu"}, []string{"nowhere"})
		computeapi.WithPlacement(name, int32(m.random.IntN(4)), locations...)(w)
	}
	if m.random.IntN(4) == 0 {
		w.Finalizers = []string{holdFinalizer}
	}
	if m.random.IntN(2) == 0 {
		computeapi.WithConfigMap("app-config")(w)
	}
	err := m.customer.Create(m.ctx, w)
	m.passing(err)
	if err != nil {
		return ""
	}
	return w.Name
}

func (m *model) aWorkload() (*computeapi.Workload, bool) {
	w, ok := pick(m, m.look().workloads)
	return &w, ok
}

func (m *model) aDeployment() (*computeapi.WorkloadDeployment, bool) {
	d, ok := pick(m, m.look().deployments)
	return &d, ok
}

func (m *model) anInstance() (*computeapi.Instance, bool) {
	i, ok := pick(m, m.look().instances)
	return &i, ok
}

func (m *model) scale() string {
	d, ok := m.aDeployment()
	if !ok {
		return ""
	}
	to := m.random.IntN(4)
	m.passing(m.writer.Patch(m.ctx, d, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, to))))
	return fmt.Sprint(d.Name, " to ", to)
}

func (m *model) deleteWorkload() string {
	w, ok := m.aWorkload()
	if !ok {
		return ""
	}
	m.passing(m.customer.Delete(m.ctx, w))
	return w.Name
}

func (m *model) releaseWorkload() string {
	for _, w := range m.look().workloads {
		if !w.DeletionTimestamp.IsZero() {
			m.passing(m.customer.Patch(m.ctx, &w, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
			return w.Name
		}
	}
	return ""
}

func (m *model) deleteDeployment() string {
	d, ok := m.aDeployment()
	if !ok {
		return ""
	}
	m.passing(m.customer.Delete(m.ctx, d))
	return d.Name
}

func (m *model) deleteInstance() string {
	i, ok := m.anInstance()
	if !ok {
		return ""
	}
	m.passing(m.customer.Delete(m.ctx, i))
	return i.Name
}

func (m *model) state() platform.State {
	state := choose(m, platform.Running, platform.Running, platform.Running, platform.Provisioning, platform.ImageUnavailable,
		platform.CrashLoop, platform.OOMKilled, platform.ConfigError, platform.ContainerConfigError, platform.PodFailed, platform.Stopped,
		platform.Conditions(
			platform.Verdict{Status: metav1.ConditionFalse, Reason: "Evicted", Message: m.message()},
			platform.Verdict{Status: metav1.ConditionUnknown, Reason: "Unschedulable", Message: m.message()}))
	state = state.By(choose(m, platform.Kata, platform.Unikraft, platform.UnikraftOlder))
	if m.random.IntN(3) == 0 {
		state = state.WithMessage(m.message())
	}
	return state
}

func (m *model) providerFinds() string {
	i, ok := m.anInstance()
	if !ok {
		return ""
	}
	state := m.state()
	m.passing(m.Platform.Provider.Set(m.ctx, client.ObjectKeyFromObject(i), state))
	return fmt.Sprint(i.Name, " ", state.Kind)
}

func (m *model) allCrash() string {
	d, ok := m.aDeployment()
	if !ok {
		return ""
	}
	for _, i := range m.look().instances {
		if metav1.IsControlledBy(&i, d) {
			m.passing(m.Platform.Provider.Set(m.ctx, client.ObjectKeyFromObject(&i), crashes))
		}
	}
	return d.Name
}

// oddCondition is what the platform's writers of today do not write.
func (m *model) oddCondition() metav1.Condition {
	c := condition(
		choose(m, "Ready", "Available", "Programmed", "Running", "QuotaGranted", "ReferencedDataReady", "Degraded"),
		choose(m, metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown),
		choose(m, "InstanceCrashing", "ErrImagePull", "Suspended", "Pending", "NobodyKnows", "QuotaNoBudget", "NetworkFailedToCreate", "AwaitingPropagation"),
		m.message())
	return c
}

func (m *model) writeInstance() string {
	i, ok := m.anInstance()
	if !ok {
		return ""
	}
	c := m.oddCondition()
	meta.SetStatusCondition(&i.Status.Conditions, c)
	m.passing(m.writer.Status().Update(m.ctx, i))
	return fmt.Sprint(i.Name, " ", c.Type, " ", c.Status, " ", c.Reason)
}

// ghost is a write that Causeway answers and another webhook then rejects.
func (m *model) ghost() string {
	i, ok := m.anInstance()
	if !ok {
		return ""
	}
	ready := choose(m, metav1.ConditionTrue, metav1.ConditionFalse)
	for _, conditionType := range []string{"Ready", "Available", "Programmed"} {
		meta.SetStatusCondition(&i.Status.Conditions, condition(conditionType, ready, "ImageUnavailable", marked))
	}
	err := m.writer.Status().Update(m.ctx, i)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return ""
	}
	require.ErrorContains(m.t, err, "rejecter.example.com")
	return fmt.Sprint(i.Name, " ", ready)
}

func (m *model) dryRun() string {
	i, ok := m.anInstance()
	if !ok {
		return ""
	}
	meta.SetStatusCondition(&i.Status.Conditions, condition("Available", metav1.ConditionFalse, "ImageUnavailable", "dry"))
	m.passing(m.writer.Status().Update(m.ctx, i, client.DryRunAll))
	return i.Name
}

// controllerSays is what a parent's controller may say without looking.
func (m *model) controllerSays() said {
	return choose(m, provisioning, provisioning, noPlacement, noDeployment,
		said{metav1.ConditionTrue, "StableInstanceFound", "1/1 instances are ready"},
		said{metav1.ConditionTrue, "AvailablePlacementFound", "At least one available placement was found"},
		said{metav1.ConditionFalse, "NoMatchingLocation", "The cell was not told which location it serves"},
		said{metav1.ConditionFalse, "SourceNotFound", `ConfigMap "app-config" not found in namespace "default"`},
		said{metav1.ConditionFalse, "QuotaNotGranted", "1 of 1 desired instances pending quota"},
		said{metav1.ConditionUnknown, "NobodyKnows", ""})
}

func (m *model) overwriteParent() string {
	v, send := m.controllerSays(), m.random.IntN(len(m.styles))
	if m.random.IntN(2) == 0 {
		d, ok := m.aDeployment()
		if !ok || len(d.Status.Conditions) == 0 {
			return ""
		}
		meta.SetStatusCondition(&d.Status.Conditions, available(v))
		m.passing(m.styles[send](d, &d.Status.Conditions))
		return fmt.Sprint("deployment ", d.Name, " ", v.Status, " ", v.Reason)
	}
	w, ok := m.aWorkload()
	if !ok || len(w.Status.Conditions) == 0 {
		return ""
	}
	meta.SetStatusCondition(&w.Status.Conditions, available(v))
	m.passing(m.styles[send](w, &w.Status.Conditions))
	return fmt.Sprint("workload ", w.Name, " ", v.Status, " ", v.Reason)
}

func (m *model) emptyConditions() string {
	w, ok := m.aWorkload()
	if !ok || len(w.Status.Conditions) == 0 {
		return ""
	}
	patch := choose(m, `{"status":{"conditions":null}}`, `{"status":{"conditions":[]}}`, `{"status":{"placements":null}}`)
	m.passing(m.writer.Status().Patch(m.ctx, w, client.RawPatch(types.MergePatchType, []byte(patch))))
	return w.Name + " " + patch
}

// burst is many writers at once, of Instances and of their parents.
func (m *model) burst() string {
	instances := m.look().instances
	if len(instances) == 0 {
		return ""
	}
	var writers sync.WaitGroup
	errs := make(chan error, 8)
	for range cap(errs) {
		i, state := choose(m, instances...), m.state()
		writers.Go(func() { errs <- m.Platform.Provider.Set(m.ctx, client.ObjectKeyFromObject(&i), state) })
	}
	m.overwriteParent()
	m.overwriteParent()
	writers.Wait()
	close(errs)
	for err := range errs {
		m.passing(err)
	}
	return fmt.Sprint(cap(errs), " writers")
}

// platformLearns changes what the platform knows from elsewhere.
func (m *model) platformLearns() string {
	d, ok := m.aDeployment()
	if !ok {
		return ""
	}
	key := client.ObjectKeyFromObject(d)
	i := platform.InstanceName(d.Name, m.random.IntN(3))
	instance := types.NamespacedName{Namespace: namespace, Name: i}
	var what string
	var err error
	switch m.random.IntN(7) {
	case 0:
		v := choose(m, platform.Verdict{}, platform.NoMatchingLocation, platform.LocationMismatch, platform.AmbiguousServingLocation)
		what, err = "location "+v.Reason, m.Platform.SetLocationError(m.ctx, key, v)
	case 1:
		unserved := m.random.IntN(3) == 0
		what, err = fmt.Sprint("unserved ", unserved), m.Platform.SetUnserved(m.ctx, key, unserved)
	case 2:
		v := choose(m, platform.Verdict{}, platform.QuotaAvailable, platform.QuotaNoBudget, platform.QuotaExceeded)
		if instance = choose(m, instance, types.NamespacedName{Namespace: namespace}); instance.Name == "" {
			what = "all "
		}
		what, err = what+"quota "+v.Reason, m.Platform.SetQuota(m.ctx, instance, v)
	case 3:
		v := choose(m, platform.Verdict{}, platform.DataResolving, platform.DataAwaiting, platform.DataMissing)
		if instance = choose(m, instance, types.NamespacedName{Namespace: namespace}); instance.Name == "" {
			what = "all "
		}
		what, err = what+"data "+v.Reason, m.Platform.SetReferencedData(m.ctx, instance, v)
	case 4:
		n := choose(m, platform.NetworkReady, platform.NetworkPending, platform.NetworkFailed("eth0", "NoAddress", "the pool is empty"))
		what, err = "network "+string(n), m.Platform.SetNetwork(m.ctx, instance, n)
	case 5:
		missing := choose(m, nil, nil, []string{"default"})
		what, err = fmt.Sprint("missing networks ", missing), m.Platform.SetMissingNetworks(m.ctx, missing...)
	default:
		v := choose(m, platform.Verdict{}, platform.DataMissing)
		what, err = "data error "+v.Reason, m.Platform.DataResolver.Annotate(m.ctx, key, v)
	}
	m.passing(err)
	return d.Name + " " + what
}

func (m *model) annotate(o client.Object, key, value string) {
	m.t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, key, value)
	m.passing(m.writer.Patch(m.ctx, o, client.RawPatch(types.MergePatchType, patch)))
}

func (m *model) suspend() string {
	d, ok := m.aDeployment()
	if !ok {
		return ""
	}
	value := choose(m, `"true"`, `"false"`, `null`)
	m.annotate(d, computeapi.SuspendedAnnotation, value)
	return d.Name + " " + value
}

func (m *model) pause() string {
	var o client.Object
	var ok bool
	if m.random.IntN(2) == 0 {
		o, ok = m.aDeployment()
	} else {
		o, ok = m.aWorkload()
	}
	if !ok {
		return ""
	}
	value := choose(m, `""`, `null`, `null`)
	m.annotate(o, "causeway.dev/paused", value)
	return o.GetName() + " " + value
}

func (m *model) handOver() string {
	p := m.StatusFront.Active()
	if p == nil {
		return ""
	}
	require.NoError(m.t, p.Stop(), tail(p.Log(), 20))
	_, err := m.StartSidecar(m.ctx)
	require.NoError(m.t, err)
	return p.Name
}

func (m *model) killProcess() string {
	p := m.StatusFront.Active()
	if p == nil {
		return ""
	}
	p.Kill()
	_, err := m.StartSidecar(m.ctx)
	require.NoError(m.t, err)
	return p.Name
}

// overwriteAll has a lossy controller write over every parent at a quiet point.
// What the overlay answers must be what was stored: the requests, the loop and
// the overlay agree. A base is the controller's own, and goes when it says so.
func (m *model) overwriteAll(rest *view) {
	m.t.Helper()
	own := func(v said) bool {
		return v.Status == metav1.ConditionTrue || v.Reason != "" && rollup.InGrammar(v.Reason, v.Message)
	}
	for i := range rest.deployments {
		d := &rest.deployments[i]
		in, was := rest.deployment(d), saysOf(d.Status.Conditions, computeapi.AvailableCondition)
		if !mine(d, d.Status.Conditions) || in.Carried() || !own(was) {
			continue
		}
		if v := choose(m, provisioning, noDeployment); was.Status != metav1.ConditionTrue || m.random.IntN(2) == 0 {
			meta.SetStatusCondition(&d.Status.Conditions, available(v))
			m.overwritten(d, &d.Status.Conditions, was)
		}
	}
	for i := range rest.workloads {
		w := &rest.workloads[i]
		was := saysOf(w.Status.Conditions, computeapi.AvailableCondition)
		if !mine(w, w.Status.Conditions) || !own(was) {
			continue
		}
		meta.SetStatusCondition(&w.Status.Conditions, available(noPlacement))
		m.overwritten(w, &w.Status.Conditions, was)
	}
	m.atRest(patience)
}

func (m *model) overwritten(o client.Object, conditions *[]metav1.Condition, was said) {
	m.t.Helper()
	err := choose(m, m.styles...)(o, conditions)
	m.passing(err)
	if err == nil {
		require.Equal(m.t, was, saysOf(*conditions, computeapi.AvailableCondition), "the overlay's answer for %s", o.GetName())
	}
}

// rejectMarked installs a webhook that nobody serves, for Instance statuses that
// say so: they are rejected while Causeway is asked at the same time.
func (m *model) rejectMarked() {
	m.t.Helper()
	admin, err := kubernetes.NewForConfig(m.AdminConfig())
	require.NoError(m.t, err)
	fail, none, nowhere := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone, "https://127.0.0.1:1/"
	_, err = admin.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(m.ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "rejecter"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "rejecter.example.com", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &nowhere},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{computeapi.Group}, APIVersions: []string{"v1alpha"}, Resources: []string{"instances/status"},
				},
			}},
			MatchConditions: []admissionregistrationv1.MatchCondition{{
				Name:       "marked",
				Expression: fmt.Sprintf(`has(object.status.conditions) && object.status.conditions.exists(c, c.message == %q)`, marked),
			}},
		}},
	}, metav1.CreateOptions{})
	require.NoError(m.t, err)
	// A new configuration is in force a moment after it is stored.
	i := &computeapi.Instance{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"},
		Spec:       computeapi.NewWorkload(namespace, "probe").Spec.Template.Spec,
	}
	require.NoError(m.t, m.customer.Create(m.ctx, i))
	m.waitFor("the rejecter to be in force", func() (bool, string) {
		o := get(m.scene, i.Name, &computeapi.Instance{})
		meta.SetStatusCondition(&o.Status.Conditions, condition("Degraded", metav1.ConditionFalse, "Marked", marked))
		err := m.writer.Status().Update(m.ctx, o, client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "rejecter.example.com"), fmt.Sprint(err)
	})
	require.NoError(m.t, m.customer.Delete(m.ctx, i))
}
