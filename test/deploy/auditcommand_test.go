package deploy

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// runAudit runs `causeway audit` and returns its exit code and what it printed.
func runAudit(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, append([]string{"audit"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = append(os.Environ(), "KUBERNETES_SERVICE_HOST=", "KUBECONFIG=", "HOME="+t.TempDir())
	if err := cmd.Run(); err != nil {
		require.IsType(t, &exec.ExitError{}, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// Before the refusal is installed, by somebody who may only read; more than one page of Workloads.
func TestAuditListsWhatIsStoredAndWouldBeRefused(t *testing.T) {
	c := clientFor(t, cp.AdminConfig())
	class := computeapi.NewRuntimeClass("audited", []string{"NET_BIND_SERVICE"}, computeapi.AsDefault)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "auditor"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"list"}},
		{APIGroups: []string{computeGroup}, Resources: []string{"runtimeclasses", "workloads", "workloaddeployments", "instances"}, Verbs: []string{"list"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "auditor"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "auditor"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "auditor"}}}
	for _, o := range []client.Object{class, role, binding} {
		require.NoError(t, c.Create(t.Context(), o))
		t.Cleanup(func() { require.NoError(t, c.Delete(cleanup(t), o)) })
	}
	kubeconfig := kubeconfigFor(t, cp.Config("auditor"))

	eventually(t, "the auditor may read", func() bool { code, _, _ := runAudit(t, "--kubeconfig", kubeconfig); return code == 0 })
	code, out, said := runAudit(t, "--kubeconfig", kubeconfig)
	assert.Zero(t, code)
	assert.Equal(t, "0 of 0 Workloads, 0 of 0 WorkloadDeployments and 0 of 0 Instances would be refused.\n", out)
	assert.Empty(t, said)

	newNamespace(t, c, "audited", nil)
	var group errgroup.Group
	group.SetLimit(16)
	const many = 520
	for i := range many {
		group.Go(func() error {
			return c.Create(t.Context(), computeapi.NewWorkload("audited", "w"+strconv.Itoa(1000+i), computeapi.WithAdd("NET_BIND_SERVICE")))
		})
	}
	require.NoError(t, group.Wait())
	last := computeapi.NewWorkload("audited", "zz-adds", computeapi.WithAdd("SYS_ADMIN"))
	require.NoError(t, c.Create(t.Context(), last))
	d := deploymentOf(last)
	require.NoError(t, c.Create(t.Context(), d))
	require.NoError(t, c.Create(t.Context(), instanceOf(d)))
	t.Cleanup(func() {
		for _, o := range []client.Object{&computeapi.Workload{}, &computeapi.WorkloadDeployment{}, &computeapi.Instance{}} {
			require.NoError(t, c.DeleteAllOf(cleanup(t), o, client.InNamespace("audited")))
		}
	})

	code, out, said = runAudit(t, "--kubeconfig", kubeconfig, "-o", "json")
	assert.Equal(t, 1, code)
	assert.Equal(t, "causeway: 3 stored objects would be refused\n", said)
	var report struct {
		Checked map[string]int
		Refused []struct {
			Namespace, Class, Kind, Name string
			Causes                       []struct{ Rule, Field, Message string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	assert.Equal(t, map[string]int{"Workload": many + 1, "WorkloadDeployment": 1, "Instance": 1}, report.Checked)
	var listed []string
	for _, r := range report.Refused {
		require.Len(t, r.Causes, 1)
		listed = append(listed, r.Namespace+" "+r.Class+" "+r.Kind+" "+r.Name+" "+r.Causes[0].Field)
	}
	assert.Equal(t, []string{
		"audited audited Workload zz-adds spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.add[0]",
		"audited audited WorkloadDeployment zz-adds spec.template.spec.runtime.sandbox.containers[0].securityContext.capabilities.add[0]",
		"audited audited Instance zz-adds-0 spec.runtime.sandbox.containers[0].securityContext.capabilities.add[0]",
	}, listed)
	code, out, _ = runAudit(t, "--kubeconfig", kubeconfig)
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "1 of 521 Workloads, 1 of 1 WorkloadDeployment and 1 of 1 Instance would be refused.")

	for name, args := range map[string][]string{
		"audit lists namespaces, runtime classes, Workloads": {"--kubeconfig", kubeconfigFor(t, cp.Config("nobody"))},
		"no control plane to audit":                          {"--kubeconfig", filepath.Join(t.TempDir(), "none")},
		"there is no flag --porrt":                           {"--porrt=1"},
	} {
		code, out, said := runAudit(t, args...)
		assert.Equal(t, 2, code, name)
		assert.Empty(t, out)
		assert.Contains(t, said, name)
	}
}
