package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/webhook"
)

// pages answers lists from memory, two items a page. A kind that is not there is not served.
type pages struct {
	client.Reader
	classes     []webhook.RuntimeClass
	workloads   []webhook.Workload
	deployments []webhook.WorkloadDeployment
	instances   []webhook.Instance
	namespaces  []metav1.PartialObjectMetadata
	// expire lets the second page of Workloads come too late, once.
	expire bool
	fail   error
}

func (p *pages) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	if p.fail != nil {
		return p.fail
	}
	o := client.ListOptions{}
	o.ApplyOptions(options)
	switch l := list.(type) {
	case *webhook.RuntimeClassList:
		return answer(&l.Items, &l.ListMeta, p.classes, o.Continue)
	case *webhook.WorkloadList:
		if o.Continue != "" && p.expire {
			p.expire = false
			err := apierrors.NewResourceExpired("too old")
			err.ErrStatus.Continue = o.Continue
			return err
		}
		return answer(&l.Items, &l.ListMeta, p.workloads, o.Continue)
	case *webhook.WorkloadDeploymentList:
		return answer(&l.Items, &l.ListMeta, p.deployments, o.Continue)
	case *webhook.InstanceList:
		return answer(&l.Items, &l.ListMeta, p.instances, o.Continue)
	case *metav1.PartialObjectMetadataList:
		return answer(&l.Items, &l.ListMeta, p.namespaces, o.Continue)
	}
	return errors.New("nobody lists that")
}

func answer[T any](into *[]T, meta *metav1.ListMeta, all []T, from string) error {
	if all == nil {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound}}
	}
	rest := all[len(from)*2:] // the token has a letter for each page that was had
	if len(rest) > 2 {
		meta.Continue = from + "x"
		rest = rest[:2]
	}
	*into = rest
	return nil
}

func adding(capability, class string) webhook.Runtime {
	r := webhook.Runtime{Class: class, Sandbox: &webhook.Sandbox{Containers: []webhook.Container{{Name: "app"}}}}
	if capability != "" {
		r.Sandbox.Containers[0].SecurityContext = &webhook.SecurityContext{Capabilities: &webhook.Capabilities{Add: []string{capability}}}
	}
	return r
}

func workload(namespace, name, capability, class string) webhook.Workload {
	return webhook.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: webhook.WorkloadSpec{Template: webhook.InstanceTemplate{Spec: webhook.InstanceSpec{Runtime: adding(capability, class)}}}}
}

func namespaceNamed(name string, labels map[string]string) metav1.PartialObjectMetadata {
	o := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/metadata.name": name}}}
	for k, v := range labels {
		o.Labels[k] = v
	}
	return o
}

// stored is a small control plane: five Workloads over three pages, children of two of them.
func stored() *pages {
	return &pages{
		classes: []webhook.RuntimeClass{
			{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: webhook.RuntimeClassSpec{Default: true,
				Capabilities: webhook.RuntimeCapabilities{Features: []string{webhook.FeatureContainerCapabilities}, GrantableCapabilities: []string{"NET_BIND_SERVICE"}}}},
		},
		workloads: []webhook.Workload{
			workload("shop", "b", "SYS_ADMIN", ""), workload("shop", "a", "NET_BIND_SERVICE", ""), workload("shop", "c", "ALL", "gone"),
			workload("kube-system", "d", "SYS_ADMIN", ""), workload("bank", "e", "", "gone"),
		},
		deployments: []webhook.WorkloadDeployment{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "b"},
			Spec: webhook.WorkloadDeploymentSpec{Template: webhook.InstanceTemplate{Spec: webhook.InstanceSpec{Runtime: adding("SYS_ADMIN", "")}}}}},
		instances: []webhook.Instance{
			{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "b-0"}, Spec: webhook.InstanceSpec{Runtime: adding("SYS_ADMIN", "web")}},
			{ObjectMeta: metav1.ObjectMeta{Namespace: "free", Name: "f-0"}, Spec: webhook.InstanceSpec{Runtime: adding("SYS_ADMIN", "web")}},
		},
		namespaces: []metav1.PartialObjectMetadata{namespaceNamed("shop", nil), namespaceNamed("bank", nil), namespaceNamed("kube-system", nil),
			namespaceNamed("free", map[string]string{webhook.NamespaceLabel: webhook.NamespaceIgnored})},
	}
}

// What is printed is for people and for scripts; so is the review of a change to it.
func TestAuditPrints(t *testing.T) {
	for format, golden := range map[string]string{auditText: "audit.txt", auditJSON: "audit.json"} {
		for name, reader := range map[string]*pages{"": stored(), "after a page that came too late": func() *pages { p := stored(); p.expire = true; return p }()} {
			t.Run(format+name, func(t *testing.T) {
				report, err := audit(t.Context(), reader)
				require.NoError(t, err)
				var out bytes.Buffer
				require.NoError(t, report.write(&out, format))
				path := filepath.Join("testdata", golden)
				if *update {
					require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
				}
				want, err := os.ReadFile(path)
				require.NoError(t, err, "run the test with -update")
				assert.Equal(t, string(want), out.String(), "run the test with -update if this is meant")
			})
		}
	}
}

func TestAuditOfNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		reader *pages
		text   string
		err    string
	}{
		"nothing is stored": {reader: &pages{classes: []webhook.RuntimeClass{}, namespaces: []metav1.PartialObjectMetadata{}},
			text: "0 of 0 Workloads, 0 of 0 WorkloadDeployments and 0 of 0 Instances would be refused.\n"},
		"a cell has no Workloads": {reader: func() *pages { p := stored(); p.workloads, p.deployments, p.instances = nil, nil, nil; return p }(),
			text: "0 of 0 Workloads, 0 of 0 WorkloadDeployments and 0 of 0 Instances would be refused.\n"},
		"no classes to judge by": {reader: &pages{}, err: "there is no runtimeclasses.compute.datumapis.com, by which capabilities are granted: "},
		"nobody may list":        {reader: &pages{fail: errors.New("sick")}, err: "listing runtime classes: sick"},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := audit(t.Context(), tc.reader)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			var out bytes.Buffer
			require.NoError(t, report.write(&out, auditText))
			assert.Equal(t, tc.text, out.String())
			out.Reset()
			require.NoError(t, report.write(&out, auditJSON))
			assert.Contains(t, out.String(), `"refused": []`, "a list for scripts, never null")
		})
	}
}

func TestAuditFlags(t *testing.T) {
	got, _, err := execute(t, "audit", "-o", "json", "--kubeconfig=k", "--context=c")
	require.NoError(t, err)
	assert.Equal(t, &auditOptions{Kubeconfig: "k", Context: "c", Output: "json"}, got.audit)
	for want, args := range map[string][]string{
		`--output must be "text" or "json", not "xml"`: {"audit", "-o", "xml"},
		"there is no flag --port":                      {"audit", "--port=1"},
		"flag needs an argument: --output":             {"audit", "--output"},
	} {
		_, _, err := execute(t, args...)
		require.EqualError(t, err, want)
		var exit exitError
		require.ErrorAs(t, err, &exit)
		assert.Equal(t, exitNotAsked, exit.code)
		assert.True(t, errors.As(err, new(usageError)), want)
	}
}

func TestAuditFindsNoControlPlane(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	err := runAudit(t.Context(), &auditOptions{Kubeconfig: filepath.Join(t.TempDir(), "none")}, &bytes.Buffer{})
	require.ErrorContains(t, err, "no control plane to audit: ")
	assert.True(t, strings.HasSuffix(err.Error(), ": give --kubeconfig, or --context"), err.Error())
}
