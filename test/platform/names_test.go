package platform

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

func TestDeploymentNames(t *testing.T) {
	require.Regexp(t, regexp.MustCompile(`^web-[0-9a-f]{10}$`), DeploymentName("web", "u", "main", "us"))
	require.Equal(t, DeploymentName("web", "u", "main", "us"), DeploymentName("web", "u", "main", "US"), "locations are lower-cased")
	require.NotEqual(t, DeploymentName("web", "u", "main", "us"), DeploymentName("web", "v", "main", "us"), "a recreated Workload")

	long := strings.Repeat("a", 29) + "-b"
	require.Regexp(t, regexp.MustCompile(`^a{29}-[0-9a-f]{10}$`), DeploymentName(long, "u", "main", "us"))
}

func TestTheTemplateHashCoversTheMetadata(t *testing.T) {
	w := computeapi.NewWorkload("default", "web")
	before := templateHash(w.Spec.Template)
	require.Equal(t, before, templateHash(w.Spec.Template))
	w.Spec.Template.Metadata.Annotations = map[string]string{computeapi.RestartedAtAnnotation: "now"}
	require.NotEqual(t, before, templateHash(w.Spec.Template))
}

func TestEachUserHasOneRoleAndNobodyMayDoEverything(t *testing.T) {
	roles, err := clusterRoles()
	require.NoError(t, err)
	var names []string
	for _, role := range roles {
		names = append(names, role.Name)
		for _, rule := range role.Rules {
			require.NotContains(t, rule.Verbs, rbacv1.VerbAll)
			require.NotContains(t, rule.Resources, rbacv1.ResourceAll)
		}
	}
	require.ElementsMatch(t, Users(), names)
}
