package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// `make test-versions` picks tests by name, and a name that is no test's picks nothing without a word.
func TestTheTestsOfAnOlderKubernetesExist(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	listed := regexp.MustCompile(`(?m)^VERSION_TESTS :=((?:.*\\\n)*.*)$`).FindSubmatch(makefile)
	require.NotNil(t, listed)
	names := strings.Fields(strings.ReplaceAll(string(listed[1]), `\`, " "))
	require.NotEmpty(t, names)

	tests := ""
	for _, dir := range []string{"../controlplane", ".", "../e2e"} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		require.NoError(t, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			tests += string(data)
		}
	}
	for _, name := range names {
		assert.Contains(t, tests, "\nfunc "+name+"(t *testing.T) {")
	}

	oldest := regexp.MustCompile(`(?m)^OLDEST := (\S+)$`).FindSubmatch(makefile)
	require.NotNil(t, oldest)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	assert.Contains(t, string(readme), "Kubernetes "+string(oldest[1])+" and 1.37 are supported")
}
