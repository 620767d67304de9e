package e2e

import (
	"crypto/tls"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/causeway-webhook/causeway/test/environment"
)

// Metrics are shown to whom the API server knows and allows.
func TestSecureMetrics(t *testing.T) {
	secure := []string{"--metrics-secure"}
	s := start(t, environment.Options{
		Components: []string{"secure-metrics"}, Webhook: 1, WebhookArgs: secure, Statuspatch: 1, StatuspatchArgs: secure,
	})
	system, err := kubernetes.NewForConfig(s.AdminConfig())
	require.NoError(t, err)
	token := func(name string) string {
		_, err := system.CoreV1().ServiceAccounts(namespace).Create(s.ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		require.NoError(t, err)
		r, err := system.CoreV1().ServiceAccounts(namespace).CreateToken(s.ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		require.NoError(t, err)
		return r.Status.Token
	}
	scraper, stranger := token("scraper"), token("stranger")
	_, err = system.RbacV1().ClusterRoleBindings().Create(s.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "scraper"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "causeway-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "scraper"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	// Asked too early, the API server's authorizer would say no, and the processes
	// keep such an answer for a while.
	s.waitFor("the scraper to be allowed to", func() (bool, string) {
		review, err := system.AuthorizationV1().SubjectAccessReviews().Create(s.ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User:                  "system:serviceaccount:" + namespace + ":scraper",
				NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"},
			},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		return review.Status.Allowed, review.Status.Reason
	})
	for _, p := range []*environment.Process{s.Webhooks[0], s.Sidecars[0]} {
		address, err := p.Address(s.ctx, "metrics")
		require.NoError(t, err)
		ask := func(token string) (int, string) {
			r, err := http.NewRequestWithContext(s.ctx, http.MethodGet, "https://"+address+"/metrics", nil)
			require.NoError(t, err)
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
			answer, err := (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Do(r)
			require.NoError(t, err)
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			return answer.StatusCode, string(text)
		}
		code, text := ask(scraper)
		assert.Equal(t, http.StatusOK, code)
		assert.Contains(t, text, "causeway_certificate_expiry_timestamp_seconds ")
		for _, tc := range []struct {
			token string
			want  int
		}{
			{stranger, http.StatusForbidden},
			{"", http.StatusUnauthorized},
			{"nonsense", http.StatusInternalServerError}, // the library's answer where the API server has said no
		} {
			code, text := ask(tc.token)
			assert.Equal(t, tc.want, code, "%s: %s", p.Name, text)
			assert.NotContains(t, text, "causeway_")
		}
		text, err = p.Metrics(s.ctx) // by plain HTTP: cut off, or told to use HTTPS
		if err == nil {
			assert.Contains(t, text, "HTTP request to an HTTPS server")
		}
	}
}
