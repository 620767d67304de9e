package webhook

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestNewNamesEveryOptionThatIsWrong(t *testing.T) {
	_, err := New(Options{Mode: "off"})
	require.EqualError(t, err, `a cached reader of runtime classes is required
a live reader is required
mode "off" is not one of ["enforce" "warn"]
a registerer of metrics is required`)

	registry := newRegistry()
	o := Options{Classes: &reader{}, Live: &reader{}, Registerer: registry}
	_, err = New(o)
	require.NoError(t, err)
	_, err = New(o)
	require.ErrorContains(t, err, "registering metrics: ")
}

func TestEverySeriesStartsAtZero(t *testing.T) {
	registry := newRegistry()
	_, err := New(Options{Classes: &reader{}, Live: &reader{}, Registerer: registry})
	require.NoError(t, err)
	families, err := registry.Gather()
	require.NoError(t, err)
	series := map[string]int{}
	for _, f := range families {
		series[f.GetName()] = len(f.GetMetric())
		for _, m := range f.GetMetric() {
			assert.Zero(t, m.GetCounter().GetValue())
		}
	}
	assert.Equal(t, map[string]int{
		"causeway_capability_reviews_total":           len(resources) * len(Outcomes),
		"causeway_capability_review_duration_seconds": len(resources),
		"causeway_capability_findings_total":          4,
		"causeway_capability_class_withdrawals_total": 2,
		"causeway_capability_refusals_total":          len(resources) * len(Rules),
		"causeway_capability_class_reads_total":       2,
	}, series)
}

func TestLogsOneLineForARefusalAndNoneForAHealthyReview(t *testing.T) {
	for name, tc := range map[string]struct {
		live *reader
		raw  []byte
		want string
	}{
		"granted": {&reader{classes: published()}, object(t, "Workload", "shop", runtimeOf("web", ctr("app", "NET_BIND_SERVICE"))), ""},
		"refused": {
			&reader{classes: published()}, object(t, "Workload", "shop", runtimeOf("web", ctr("app", "ALL"))),
			`"level"=0 "msg"="Capabilities not granted" "Workload"={"name"="shop" "namespace"="default"} "operation"="CREATE" "requestUID"="review-1" "outcome"="refused" "class"="web" "causes"=1 "reason"="spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.add[0]: Forbidden: ALL may not be added; list each capability"` + "\n",
		},
		"in doubt": {
			&reader{listErr: errors.New("down")}, object(t, "Workload", "shop", runtimeOf("web", ctr("app", "ALL"))),
			`"msg"="Capabilities could not be checked" "error"="reading the runtime classes: down" "Workload"={"name"="shop" "namespace"="default"} "operation"="CREATE" "requestUID"="review-1" "outcome"="doubt_refused"` + "\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			ctx := logr.NewContext(t.Context(), funcr.New(func(_, args string) { out.WriteString(args + "\n") }, funcr.Options{}))
			hook(t, workloads, tc.live).Handle(ctx, created(workloads, "shop", tc.raw))
			assert.Equal(t, tc.want, out.String())
		})
	}
}

func TestAThousandHealthyReviewsAreNoNews(t *testing.T) {
	var out bytes.Buffer
	ctx := logr.NewContext(t.Context(), funcr.New(func(_, args string) { out.WriteString(args + "\n") }, funcr.Options{}))
	h := hook(t, workloads, &reader{classes: published()})
	healthy := created(workloads, "shop", object(t, "Workload", "shop", runtimeOf("web", ctr("app", "NET_BIND_SERVICE"))))
	for range 1000 {
		require.True(t, h.Handle(ctx, healthy).Allowed)
	}
	assert.Empty(t, out.String())
}

func TestTheValueOfAPanicIsForTheLogAlone(t *testing.T) {
	var out bytes.Buffer
	ctx := logr.NewContext(t.Context(), funcr.New(func(_, args string) { out.WriteString(args) }, funcr.Options{}))
	h := hook(t, workloads, &reader{onList: func(context.Context) { panic("secret") }})
	resp := h.Handle(ctx, created(workloads, "shop", object(t, "Workload", "shop", runtimeOf("web", ctr("app", "ALL")))))
	assert.NotContains(t, resp.Result.Message, "secret")
	assert.Contains(t, out.String(), `"panic"="secret"`)
	assert.Contains(t, out.String(), "webhook_test.go")
}

func TestTheSchemeKnowsEveryKind(t *testing.T) {
	s := runtime.NewScheme()
	require.NoError(t, AddToScheme(s))
	for _, kind := range []string{"Workload", "WorkloadDeployment", "Instance", "RuntimeClass"} {
		assert.True(t, s.Recognizes(GroupVersion.WithKind(kind)), kind)
		assert.True(t, s.Recognizes(GroupVersion.WithKind(kind+"List")), kind)
	}
}

func TestCopiesShareNothing(t *testing.T) {
	full := object(t, "Workload", "shop", runtimeOf("web", ctr("app", "A").dropping("B")), labelled("a"))
	class := giving(granting("web", "CHOWN"), "CHOWN")
	for _, original := range []runtime.Object{
		&WorkloadList{Items: []Workload{*decoded[Workload](t, full)}},
		&WorkloadDeploymentList{Items: []WorkloadDeployment{*decoded[WorkloadDeployment](t, full)}},
		&InstanceList{Items: []Instance{*decoded[Instance](t, object(t, "Instance", "shop", runtimeOf("web", ctr("app", "A").dropping("B"))))}},
		&RuntimeClassList{Items: []RuntimeClass{class}},
		&RuntimeClassList{},
	} {
		c := original.DeepCopyObject()
		if diff := cmp.Diff(original, c); diff != "" {
			t.Errorf("DeepCopyObject of %T (-want +got):\n%s", original, diff)
		}
		before := encode(t, original)
		scribble(c)
		assert.Equal(t, string(before), string(encode(t, original)), "%T", original)
	}
	assert.Nil(t, (*Workload)(nil).DeepCopy())
	assert.Nil(t, (*WorkloadDeployment)(nil).DeepCopy())
	assert.Nil(t, (*Instance)(nil).DeepCopy())
	assert.Nil(t, (*RuntimeClass)(nil).DeepCopy())
}

// scribble changes everything that a copy could share with its original.
func scribble(o runtime.Object) {
	onRuntime := func(r *Runtime) {
		if r.Sandbox != nil {
			c := &r.Sandbox.Containers[0]
			c.Name = "x"
			c.SecurityContext.Capabilities.Add[0] = "x"
			c.SecurityContext.Capabilities.Drop[0] = "x"
		}
	}
	switch l := o.(type) {
	case *WorkloadList:
		onRuntime(&l.Items[0].Spec.Template.Spec.Runtime)
		l.Items[0].Labels["team"] = "x"
	case *WorkloadDeploymentList:
		onRuntime(&l.Items[0].Spec.Template.Spec.Runtime)
	case *InstanceList:
		onRuntime(&l.Items[0].Spec.Runtime)
	case *RuntimeClassList:
		for i := range l.Items {
			l.Items[i].Spec.Capabilities.Features[0] = "x"
			l.Items[i].Spec.Capabilities.GrantableCapabilities[0] = "x"
			l.Items[i].Spec.DefaultSecurityContext.Capabilities.Add[0] = "x"
		}
	}
}

func TestAStoredObjectIsJudgedWithoutAReview(t *testing.T) {
	w := decoded[Workload](t, object(t, "Workload", "shop", runtimeOf("web", ctr("app", "ALL"))))
	r, path := RuntimeOf(w)
	v := Validate(Case{Runtime: r, Path: path, Classes: NewClasses(published())})
	require.Len(t, v.Refused, 1)
	assert.Equal(t, Finding{
		Rule: RuleAll, Class: "web", Container: "app", Capability: "ALL",
		Err: field.Forbidden(field.NewPath(add0).Index(0), "ALL may not be added; list each capability"),
	}, v.Refused[0])

	_, path = RuntimeOf(&Instance{})
	assert.Equal(t, "spec.runtime", path.String())
	_, path = RuntimeOf(&WorkloadDeployment{})
	assert.Equal(t, at, path.String())
	r, _ = RuntimeOf(&RuntimeClass{})
	assert.Nil(t, r)
}
