package controlplane_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/causeway-webhook/causeway/test/controlplane"
)

func clientFor(t *testing.T, cfg *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	return client
}

func whoAmI(t *testing.T, client *kubernetes.Clientset) authenticationv1.UserInfo {
	t.Helper()
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	require.NoError(t, err)
	return review.Status.UserInfo
}

func TestServerHasThePinnedVersion(t *testing.T) {
	version, err := clientFor(t, shared.AdminConfig()).Discovery().ServerVersion()
	require.NoError(t, err)
	asked := os.Getenv(controlplane.VersionEnv)
	if asked == "" && os.Getenv(controlplane.AssetsEnv) != "" {
		return // whoever set it chose the version
	}
	want, known := map[string]string{"": "v1.37.2", "1.36": "v1.36.3"}[asked]
	require.True(t, known, "%s is %q", controlplane.VersionEnv, asked)
	assert.Equal(t, want, version.GitVersion)
	assert.True(t, strings.HasPrefix(want, "v"+version.Major+"."+version.Minor+"."))
}

func TestPolicyAPIsAreServed(t *testing.T) {
	disco := clientFor(t, shared.AdminConfig()).Discovery()
	for gv, wantResources := range map[string][]string{
		"admissionregistration.k8s.io/v1": {
			"mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "mutatingwebhookconfigurations",
			"validatingadmissionpolicies", "validatingadmissionpolicybindings", "validatingwebhookconfigurations",
		},
		"flowcontrol.apiserver.k8s.io/v1": {"flowschemas", "prioritylevelconfigurations"},
	} {
		list, err := disco.ServerResourcesForGroupVersion(gv)
		require.NoError(t, err)
		var resources []string
		for _, r := range list.APIResources {
			resources = append(resources, r.Name)
		}
		assert.Subset(t, resources, wantResources, gv)
	}
}

func TestAnonymousMayOnlyAskForHealth(t *testing.T) {
	cfg := rest.AnonymousClientConfig(shared.AdminConfig())
	client := clientFor(t, cfg)
	for _, path := range []string{"/livez", "/readyz", "/healthz"} {
		body, err := client.Discovery().RESTClient().Get().AbsPath(path).DoRaw(t.Context())
		require.NoError(t, err, path)
		assert.Equal(t, "ok", string(body), path)
	}
	_, err := client.Discovery().RESTClient().Get().AbsPath("/version").DoRaw(t.Context())
	assert.True(t, apierrors.IsUnauthorized(err), "got %v", err)
}

func TestNobodyIsInSystemMasters(t *testing.T) {
	user := whoAmI(t, clientFor(t, shared.AdminConfig()))
	assert.Equal(t, controlplane.Installer, user.Username)
	assert.Equal(t, []string{"system:authenticated"}, user.Groups)
	assert.Panics(t, func() { shared.Config("somebody", "system:masters") })
}

// The installer holds no role, so this also shows that it may grant what it does
// not hold itself, which RBAC otherwise refuses as an escalation.
func TestOrdinaryUserMayDoWhatTheInstallerGrants(t *testing.T) {
	admin := clientFor(t, shared.AdminConfig())
	alice := clientFor(t, shared.Config("alice", "customers"))
	user := whoAmI(t, alice)
	assert.Equal(t, "alice", user.Username)
	assert.Equal(t, []string{"customers", "system:authenticated"}, user.Groups)

	_, err := alice.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "got %v", err)

	_, err = admin.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "read-config"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "read-config"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "read-config"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "customers"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)

	eventually(t, func() error {
		_, err := alice.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		return err
	})
	_, err = alice.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{})
	assert.True(t, apierrors.IsForbidden(err), "got %v", err)
}

func TestServiceAccountIsItself(t *testing.T) {
	admin := clientFor(t, shared.AdminConfig())
	_, err := shared.ServiceAccountConfig(t.Context(), "default", "robot")
	require.EqualError(t, err, `get a token for service account default/robot: serviceaccounts "robot" not found`)

	_, err = admin.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	cfg, err := shared.ServiceAccountConfig(t.Context(), "default", "robot")
	require.NoError(t, err)
	assert.Equal(t, "system:serviceaccount:default:robot", whoAmI(t, clientFor(t, cfg)).Username)
}

func TestKubeconfigReachesTheServerAsTheSameUser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, controlplane.WriteKubeconfig(path, shared.Config("bob")))
	cfg, err := clientcmd.BuildConfigFromFlags("", path)
	require.NoError(t, err)
	assert.Equal(t, "bob", whoAmI(t, clientFor(t, cfg)).Username)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
