package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// container reads the one container that a component of deploy/ adds.
func container(t *testing.T, component string) corev1.Container {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "deploy", "components", component, "container.yaml"))
	require.NoError(t, err)
	var d appsv1.Deployment
	require.NoError(t, yaml.UnmarshalStrict(data, &d))
	require.Len(t, d.Spec.Template.Spec.Containers, 1)
	return d.Spec.Template.Spec.Containers[0]
}

// The arguments in deploy/ must parse, and mean the ports, files and objects that deploy/ gives them.
func TestDeployedArguments(t *testing.T) {
	t.Setenv("POD_IP", "192.0.2.7")
	for component, name := range map[string]string{"refusal": "webhook", "status": "statuspatch"} {
		t.Run(component, func(t *testing.T) {
			c := container(t, component)
			args := make([]string, len(c.Args))
			for i, arg := range c.Args {
				args[i] = strings.ReplaceAll(arg, "$(POD_NAMESPACE)", "causeway-system")
				for _, e := range c.Env {
					args[i] = strings.ReplaceAll(args[i], "$("+e.Name+")", e.Value)
				}
			}
			got, _, err := execute(t, args...)
			require.NoError(t, err)
			var o *commonOptions
			if name == "webhook" {
				require.NotNil(t, got.webhook)
				o = &got.webhook.commonOptions
			} else {
				require.NotNil(t, got.statuspatch)
				o = &got.statuspatch.commonOptions
				assert.Equal(t, namespacedName{Namespace: "causeway-system", Name: "causeway-status"}, got.statuspatch.EndpointSlice)
				assert.Contains(t, namesInRBAC(t), got.statuspatch.LeaseName)
				assert.Contains(t, namesInRBAC(t), got.statuspatch.EndpointSlice.Name)
			}
			assert.Equal(t, name, c.Name)
			assert.Equal(t, o.Dir, c.VolumeMounts[0].MountPath)
			ports := []string{":" + strconv.Itoa(o.Port), o.ProbeAddress, o.MetricsAddr}
			for i, p := range c.Ports {
				assert.Equal(t, ports[i], ":"+strconv.Itoa(int(p.ContainerPort)), p.Name)
			}
		})
	}
}

// What components add to the arguments of statuspatch is what one of them needs of another.
func TestArgumentsThatComponentsAdd(t *testing.T) {
	t.Setenv("POD_IP", "192.0.2.7")
	args := []string{"statuspatch"}
	for _, component := range []string{"observe-pods", "capability-hint"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "deploy", "components", component, "container.yaml"))
		require.NoError(t, err)
		var operations []struct{ Op, Path, Value string }
		require.NoError(t, yaml.UnmarshalStrict(data, &operations))
		require.Len(t, operations, 2)
		assert.Equal(t, "statuspatch", operations[0].Value, "the container it is added to")
		args = append(args, operations[1].Value)
	}
	got, _, err := execute(t, args...)
	require.NoError(t, err)
	assert.True(t, got.statuspatch.ObservePods)
	assert.True(t, got.statuspatch.CapabilityHint)
}

func namesInRBAC(t *testing.T) (names []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "deploy", "components", "status", "rbac.yaml"))
	require.NoError(t, err)
	for _, document := range strings.Split(string(data), "\n---\n") {
		var role rbacv1.Role
		require.NoError(t, yaml.Unmarshal([]byte(document), &role))
		for _, rule := range role.Rules {
			names = append(names, rule.ResourceNames...)
		}
	}
	return names
}

// Whoever imports whom is what keeps the two halves apart: each can be installed, and read, alone.
func TestPackagesStayApart(t *testing.T) {
	for folder, banned := range map[string][]string{
		"webhook":     {"/statuspatch", "/certs", "/cmd"},
		"statuspatch": {"/webhook", "/certs", "/cmd"},
		"certs":       {"/webhook", "/statuspatch", "/cmd"},
	} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") {
				return err
			}
			data, err := os.ReadFile(path)
			for _, b := range banned {
				assert.NotContains(t, string(data), `"github.com/causeway-webhook/causeway`+b, path)
			}
			return err
		})
		require.NoError(t, err)
	}
}
