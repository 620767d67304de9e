package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/causeway-webhook/causeway/cmd/kubectl-why/tree"
)

var nowhere = terminal{}

func TestNames(t *testing.T) {
	for line, want := range map[string][]string{
		"":                  nil,
		"api":               {"api"},
		"api web api":       {"api", "web"},
		"workload/api":      {"api"},
		"Workloads/api":     {"api"},
		"workload api web":  {"api", "web"},
		"workload":          {},
		"workload/workload": {"workload"},
		"workloads.v1alpha.compute.datumapis.com/api": {"api"},
	} {
		got, err := names(strings.Fields(line))
		require.NoError(t, err, line)
		assert.Equal(t, want, got, line)
	}
	for line, want := range map[string]string{
		"pod/api":        `"pod/api": workloads are explained, and nothing of kind "pod"; to see all of a workload, give its name`,
		"workload/":      `"workload/" is not the name of a workload`,
		"workload/a/b":   `"workload/a/b" is not the name of a workload`,
		"workload pod/x": `"workload pod/x": there is no need to give the kind twice`,
	} {
		_, err := names(strings.Fields(line))
		assert.EqualError(t, err, want)
	}
}

func TestWrongCallsAndTrouble(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"an output there is none of":  {[]string{"-o", "name"}, `--output must be json, yaml or wide, not "name"`},
		"a name in all namespaces":    {[]string{"api", "-A"}, "a workload is named by its namespace and its name: give -n instead of --all-namespaces"},
		"names and a selector":        {[]string{"api", "-l", "a=b"}, "give names or --selector, not both"},
		"an unknown flag":             {[]string{"--verbose"}, "unknown flag: --verbose"},
		"a workload there is none of": {[]string{"web", "-n", "shop"}, `workloads.compute.datumapis.com "web" not found`},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, _, err := crowd(1).call(t, nowhere, nowhere, tc.args...)
			assert.EqualError(t, err, tc.want)
			assert.NotErrorIs(t, err, errFailing)
			assert.Empty(t, stdout)
		})
	}
	s := crowd(1)
	delete(s.objects, "workloads")
	_, _, err := s.call(t, nowhere, nowhere, "api")
	assert.ErrorContains(t, err, "does not serve workloads.compute.datumapis.com; is it the one you mean (--context)?")
	s = crowd(1)
	s.refused["workloads"] = true
	_, _, err = s.call(t, nowhere, nowhere, "api", "-n", "shop")
	assert.EqualError(t, err, `workloads is forbidden: User "bob" cannot list it`)
}

func TestNothingThere(t *testing.T) {
	s := crowd(1)
	stdout, stderr, err := s.call(t, nowhere, nowhere, "-n", "empty")
	require.NoError(t, err)
	assert.Equal(t, []string{"", "No workloads found in empty namespace.\n"}, []string{stdout, stderr})
	stdout, _, err = s.call(t, nowhere, nowhere, "-n", "empty", "-o", "json")
	require.NoError(t, err)
	assert.JSONEq(t, `{"apiVersion":"why.causeway.dev/v1alpha1","kind":"ExplanationList","items":[]}`, stdout)
}

// A long list comes in pages; a terminal shows how far it is and nothing of it
// stays.
func TestPagesAndProgress(t *testing.T) {
	s := crowd(1200)
	stdout, stderr, err := s.call(t, nowhere, terminal{80}, "api", "-n", "shop")
	assert.ErrorIs(t, err, errFailing)
	assert.Contains(t, stdout, "0 of 1200 instances ready")
	assert.Contains(t, stdout, "1199 more like this")
	assert.Equal(t, clearLine+"Reading instances: 500 of 1200..."+clearLine+"Reading instances: 1000 of 1200..."+clearLine, stderr[:len(stderr)/2],
		"and once more, since what is stored differs")
	assert.Equal(t, stderr[:len(stderr)/2], stderr[len(stderr)/2:])

	_, stderr, _ = s.call(t, nowhere, nowhere, "api", "-n", "shop")
	assert.Empty(t, stderr, "no progress where nobody watches")
}

func TestColourIsForTerminals(t *testing.T) {
	t.Setenv("TERM", "xterm")
	unset(t, "NO_COLOR")
	stdout, _, _ := crowd(1).call(t, terminal{80}, nowhere, "api", "-n", "shop")
	assert.Contains(t, stdout, "\x1b[31m")
	stdout, _, _ = crowd(1).call(t, nowhere, terminal{80}, "api", "-n", "shop")
	assert.NotContains(t, stdout, "\x1b")
	t.Setenv("NO_COLOR", "")
	stdout, _, _ = crowd(1).call(t, terminal{80}, nowhere, "api", "-n", "shop")
	assert.NotContains(t, stdout, "\x1b")
}

func unset(t *testing.T, name string) {
	t.Helper()
	t.Setenv(name, "") // to have it restored
	require.NoError(t, os.Unsetenv(name))
}

func TestDocuments(t *testing.T) {
	var fromJSON, fromYAML document
	stdout, _, err := crowd(2).call(t, nowhere, nowhere, "-A", "-o", "json")
	assert.ErrorIs(t, err, errFailing)
	require.NoError(t, json.Unmarshal([]byte(stdout), &fromJSON))
	stdout, _, _ = crowd(2).call(t, nowhere, nowhere, "-A", "-o", "yaml")
	require.NoError(t, yaml.UnmarshalStrict([]byte(stdout), &fromYAML))
	assert.Equal(t, fromJSON, fromYAML)

	e := fromJSON.Items[0]
	assert.Equal(t, tree.Failing, e.State)
	assert.Equal(t, "InstanceCrashing", e.Causes[0].Reason)
	assert.Equal(t, &tree.Said{Status: "False", Reason: "InstancesProvisioning", Message: "Instances are being provisioned"}, e.Workload.Stored)
	assert.Len(t, e.Workload.Children[0].Children[0].Children, 2, "a document leaves no instance out")
}

func TestInstancesThatMayNotBeRead(t *testing.T) {
	s := crowd(2)
	s.refused["instances"] = true
	stdout, _, err := s.call(t, nowhere, nowhere, "api", "-n", "shop")
	assert.ErrorIs(t, err, errFailing)
	assert.Contains(t, stdout, `Instances could not be read: instances is forbidden: User "bob" cannot list it.`)
	assert.Contains(t, stdout, "Instances are being provisioned.")
	assert.NotContains(t, stdout, "stored")
}

func TestCompletion(t *testing.T) {
	s := crowd(1)
	s.objects["workloads"] = append(s.objects["workloads"], object("Workload", "shop", "web", nil, nil, nil))
	for line, want := range map[string]string{
		"":          "api\nweb\n:4\n",
		"workload/": "workload/api\nworkload/web\n:4\n",
		"api ":      "web\n:4\n",
		"--output ": "json\nyaml\nwide\n:4\n",
	} {
		args := append([]string{"-n", "shop"}, strings.Split(line, " ")...)
		stdout, _, err := s.complete(t, args...)
		require.NoError(t, err, line)
		assert.Equal(t, want, stdout, line)
	}
}

// complete is call, as a shell does it.
func (s *stub) complete(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	return s.callWith(t, nowhere, nowhere, func(server string) []string {
		return append([]string{"__complete", "--server=" + server}, args...)
	})
}

// kubectl looks for an executable of another name to complete a plugin.
func TestCalledToComplete(t *testing.T) {
	dir := filepath.Join("usr", "bin")
	assert.Equal(t, []string{"api"}, arguments([]string{filepath.Join(dir, "kubectl-why"), "api"}))
	assert.Equal(t, []string{"__complete", "ap"}, arguments([]string{filepath.Join(dir, "kubectl_complete-why"), "ap"}))
	assert.Equal(t, []string{"__complete", "ap"}, arguments([]string{"kubectl_complete-why.exe", "ap"}))
}

func TestTheHelpNamesTheCommandAsItIsTyped(t *testing.T) {
	stdout, _, err := crowd(1).call(t, nowhere, nowhere, "--help")
	require.NoError(t, err)
	assert.Contains(t, stdout, "kubectl why [workload/]NAME...")
	assert.NotContains(t, stdout, "kubectl-why")
}
