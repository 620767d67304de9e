package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

func TestKubeconfigErrorsSayWhatToDo(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("yaml", []byte("{"), 0o600))
	require.NoError(t, os.WriteFile("empty", nil, 0o600))
	require.NoError(t, os.WriteFile("nowhere", []byte("apiVersion: v1\nkind: Config\ncurrent-context: x\n"), 0o600))
	for name, want := range map[string]string{
		"":        "no control plane to watch over: this is no Pod, so give --kubeconfig",
		"missing": "--kubeconfig missing does not exist: give the path of a kubeconfig",
		"yaml":    "--kubeconfig yaml cannot be read: ",
		"empty":   "--kubeconfig empty cannot be used: ",
		"nowhere": "--kubeconfig nowhere cannot be used: ",
	} {
		t.Run("file "+name, func(t *testing.T) {
			_, err := loadConfig(name, "test")
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), want), err.Error())
			assert.NotContains(t, oneLine(err).Error(), "\n")
		})
	}
}

func TestLoadConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, []byte(`{apiVersion: v1, kind: Config, current-context: c,
contexts: [{name: c, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: "https://example.com"}}], users: [{name: u, user: {token: t}}]}`), 0o600))
	config, err := loadConfig(path, "causeway-test")
	require.NoError(t, err)
	assert.Equal(t, "https://example.com", config.Host)
	assert.Equal(t, "causeway-test", config.UserAgent)
	assert.Negative(t, config.QPS, "the server's flow control decides, not the client")
}

func TestServedResources(t *testing.T) {
	for name, tc := range map[string]struct {
		code int
		body string
		want map[string]bool
		err  string // after the server's address was replaced by HOST
	}{
		"the API is there": {code: 200, body: `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"compute.datumapis.com/v1alpha","resources":[{"name":"instances"},{"name":"instances/status"}]}`,
			want: map[string]bool{"instances": true, "instances/status": true}},
		"the API is not there": {code: 404, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`},
		"nobody knows us": {code: 401, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","message":"Unauthorized","code":401}`,
			err: "the API server at HOST does not know who this is: Unauthorized: renew the token or certificate in --kubeconfig"},
		"we may not look": {code: 403, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`,
			err: "the API server at HOST refuses discovery: no: bind this user to the cluster role system:discovery"},
		"it is not well": {code: 500, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","message":"sick","code":500}`,
			err: "cannot reach the API server at HOST: sick: check that it runs and that the address in --kubeconfig is right"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tc.code)
				_, _ = w.Write([]byte(tc.body))
			}))
			defer server.Close()
			transport := &http.Transport{DisableKeepAlives: true}
			served, err := servedResources(t.Context(), &rest.Config{Host: server.URL, Transport: transport})
			if tc.err != "" {
				require.Error(t, err)
				assert.Equal(t, tc.err, strings.ReplaceAll(err.Error(), server.URL, "HOST"))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, served)
		})
	}
}

func TestAnUnreachableServerIsNamedSoon(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close() // its address is nobody's now
	start := time.Now()
	_, err := servedResources(t.Context(), &rest.Config{Host: server.URL})
	require.ErrorContains(t, err, "cannot reach the API server at "+server.URL)
	assert.Less(t, time.Since(start), firstWordsTimeout+time.Second)
}
