package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
	"github.com/causeway-webhook/causeway/test/bench/report"
	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/crds"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/install"
)

// Of the classes, the platform publishes two; the rest are the first under other
// names.
const (
	classes    = 10
	class      = "general-purpose"
	capability = "NET_ADMIN" // which that class grants
)

// policyName is the policy's and its binding's.
const policyName = "bench-capabilities"

// workloadCreate measures what a customer waits for: creating a Workload, as a dry
// run, so that etcd takes no part in it.
func workloadCreate(ctx context.Context, e *env) (report.Table, error) {
	p, err := e.planes(ctx)
	if err != nil {
		return report.Table{}, err
	}
	for _, plane := range []*environment.Environment{p.bare, p.again, p.causeway} {
		if err := addClasses(ctx, plane); err != nil {
			return report.Table{}, err
		}
	}
	const writers, policy = 16, "policy"
	customers := map[string]*creator{}
	for name, at := range map[string]struct {
		*environment.Environment
		namespace string
	}{
		"bare": {p.bare, "create"}, "again": {p.again, "create"}, "causeway": {p.causeway, "create"},
		"policy": {p.bare, "create-" + policy}, "policy again": {p.again, "create-" + policy},
	} {
		if customers[name], err = newCreator(ctx, at.Environment, at.namespace, writers); err != nil {
			return report.Table{}, err
		}
	}
	each := short(e, 8, 4)
	creating := func(name string, body func(*creator) []byte) func(context.Context) (half, error) {
		c := customers[name]
		return halfOf(c.writers, each, func(ctx context.Context, w writer, _ int) error { return c.create(ctx, w, body(c)) })
	}
	without, with := func(c *creator) []byte { return c.plain }, func(c *creator) []byte { return c.adding }
	if err := customers["causeway"].refuses(ctx); err != nil {
		return report.Table{}, err
	}
	unjudged, err := e.measure(ctx,
		pairs.Comparison[half]{Base: creating("bare", without), Other: creating("again", without)},
		pairs.Comparison[half]{Base: creating("bare", without), Other: creating("causeway", without)})
	if err != nil {
		return report.Table{}, err
	}
	// Only now, so that nothing is installed where that is the baseline.
	for _, name := range []string{"policy", "policy again"} {
		if err := errors.Join(installPolicy(ctx, customers[name]), customers[name].refuses(ctx)); err != nil {
			return report.Table{}, err
		}
	}
	judged, err := e.measure(ctx,
		pairs.Comparison[half]{Base: creating("policy", with), Other: creating("policy again", with)},
		pairs.Comparison[half]{Base: creating("policy", with), Other: creating("causeway", with)})
	if err != nil {
		return report.Table{}, err
	}
	if err := e.profile(ctx, "workload-create", p.causeway.Webhooks[0], creating("causeway", with)); err != nil {
		return report.Table{}, err
	}
	return report.Table{
		Title: "Creating a Workload",
		About: fmt.Sprintf("%d customers create Workloads as dry runs, so that etcd takes no part. Without any `add`, Causeway's match condition keeps the\n"+
			"request in the API server, and the baseline is an API server with nothing installed. With an `add` that is allowed, Causeway is\n"+
			"asked, and the baseline is a ValidatingAdmissionPolicy that has each of %d RuntimeClasses as a parameter. That policy is a lower\n"+
			"bound: it knows neither what an object may keep nor which class would pass, and it calls nobody.", writers, classes),
		Measures: []report.Measure{
			{
				Name: "without any add", Unit: "creates/s", Baseline: "nothing installed", AA: pairs.Of(unjudged[0], half.throughput),
				Rows: []report.Row{{Name: "Causeway", Series: pairs.Of(unjudged[1], half.throughput), Bar: pairs.AtLeast(0.97)}},
			},
			{
				Name: "with an allowed add", Unit: "creates/s", Baseline: "a ValidatingAdmissionPolicy", AA: pairs.Of(judged[0], half.throughput),
				Rows: []report.Row{{Name: "Causeway", Series: pairs.Of(judged[1], half.throughput), Bar: pairs.AtLeast(0.9)}},
			},
		},
	}, nil
}

// creator is a namespace in which customers create Workloads, and what they send.
type creator struct {
	*environment.Environment
	namespace             string
	writers               []writer
	plain, adding, wicked []byte
}

func newCreator(ctx context.Context, e *environment.Environment, namespace string, writers int) (*creator, error) {
	c := &creator{Environment: e, namespace: namespace}
	if err := e.CreateNamespace(ctx, namespace); err != nil {
		return nil, err
	}
	var err error
	if c.writers, err = newWriters(e, writers); err != nil {
		return nil, err
	}
	for into, tweaks := range map[*[]byte][]computeapi.WorkloadTweak{
		&c.plain:  {computeapi.WithClass(class)},
		&c.adding: {computeapi.WithClass(class), computeapi.WithAdd(capability)},
		&c.wicked: {computeapi.WithClass(class), computeapi.WithAdd("CAP_OF_NO_CLASS")},
	} {
		if *into, err = json.Marshal(computeapi.NewWorkload(namespace, "shop", tweaks...)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *creator) create(ctx context.Context, w writer, workload []byte) error {
	path := "/apis/" + computeapi.GroupVersion.String() + "/namespaces/" + c.namespace + "/workloads?dryRun=All"
	_, err := w.send(ctx, http.MethodPost, path, plainJSON, workload)
	return err
}

// refuses returns when what no class grants is refused and what one grants is not.
func (c *creator) refuses(ctx context.Context) error {
	return waitFor(ctx, "a capability of no class to be refused in "+c.namespace, func() (bool, string) {
		err := c.create(ctx, c.writers[0], c.wicked)
		if err == nil || !strings.Contains(err.Error(), "CAP_OF_NO_CLASS") {
			return false, fmt.Sprint("creating it: ", err)
		}
		err = c.create(ctx, c.writers[0], c.adding)
		return err == nil, fmt.Sprint("creating one that is granted: ", err)
	})
}

// addClasses publishes the platform's first class under further names.
func addClasses(ctx context.Context, e *environment.Environment) error {
	objects, err := crds.Classes()
	if err != nil {
		return err
	}
	published := len(objects)
	for _, o := range objects {
		for i := published; o.GetName() == class && i < classes; i++ {
			copied := o.DeepCopy()
			copied.SetName("class-" + strconv.Itoa(i))
			objects = append(objects, copied)
		}
	}
	return install.Install(ctx, e.AdminConfig(), objects[published:], install.Options{})
}

// installPolicy has a policy judge what is created in a namespace.
func installPolicy(ctx context.Context, c *creator) error {
	client, err := kubernetes.NewForConfig(c.AdminConfig())
	if err != nil {
		return err
	}
	fail, deny, equivalent := admissionregistrationv1.Fail, admissionregistrationv1.DenyAction, admissionregistrationv1.Equivalent
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: policyName},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			ParamKind:     &admissionregistrationv1.ParamKind{APIVersion: computeapi.GroupVersion.String(), Kind: "RuntimeClass"},
			MatchConstraints: &admissionregistrationv1.MatchResources{
				MatchPolicy: &equivalent,
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{computeapi.GroupVersion.Group}, APIVersions: []string{computeapi.GroupVersion.Version}, Resources: []string{"workloads"},
					},
				}}},
			},
			Variables: []admissionregistrationv1.Variable{
				{Name: "runtime", Expression: `object.spec.template.spec.runtime`},
				{Name: "class", Expression: `has(variables.runtime.class) ? variables.runtime.class : ""`},
				{Name: "judges", Expression: `variables.class == params.metadata.name || variables.class == "" && has(params.spec.default) && params.spec.default`},
				{Name: "granted", Expression: `has(params.spec.capabilities.grantableCapabilities) ? params.spec.capabilities.grantableCapabilities : []`},
				{Name: "added", Expression: `has(variables.runtime.sandbox) ? variables.runtime.sandbox.containers.map(c,
					has(c.securityContext) && has(c.securityContext.capabilities) && has(c.securityContext.capabilities.add) ? c.securityContext.capabilities.add : []) : []`},
			},
			Validations: []admissionregistrationv1.Validation{{
				Expression: `!variables.judges || variables.added.all(add, add.all(c, c in variables.granted && "containerCapabilities" in params.spec.capabilities.features))`,
				MessageExpression: `"runtime class " + params.metadata.name + " does not grant one of " +
					variables.added.map(add, add.join(", ")).join(", ")`,
			}},
		},
	}
	binding := admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policyName},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        policyName,
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			ParamRef:          &admissionregistrationv1.ParamRef{Selector: &metav1.LabelSelector{}, ParameterNotFoundAction: &deny},
			MatchResources: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": c.namespace}},
			},
		},
	}
	as := metav1.CreateOptions{FieldManager: controlplane.Installer}
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, policy, as); err != nil {
		return fmt.Errorf("installing the policy: %w", err)
	}
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, &binding, as); err != nil {
		return fmt.Errorf("installing the policy: %w", err)
	}
	return nil
}
