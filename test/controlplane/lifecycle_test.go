package controlplane_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/controlplane"
)

// eventually asks check until it returns nil, for a minute at most.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	var last error
	if !assert.Eventually(t, func() bool { last = check(); return last == nil }, time.Minute, 20*time.Millisecond) {
		t.Fatalf("last answer: %v", last)
	}
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestRestartKeepsAddressDataAndTokens(t *testing.T) {
	cp := startOwn(t, controlplane.Options{})
	client := clientFor(t, cp.AdminConfig())
	_, err := client.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	robotConfig, err := cp.ServiceAccountConfig(t.Context(), "default", "kept")
	require.NoError(t, err)
	url, before := cp.URL(), cp.PIDs()
	require.Len(t, before, 2)

	cp.StopAPIServer()
	require.Len(t, cp.PIDs(), 1)
	_, err = client.CoreV1().ServiceAccounts("default").Get(t.Context(), "kept", metav1.GetOptions{})
	require.ErrorIs(t, err, syscall.ECONNREFUSED)

	require.NoError(t, cp.StartAPIServer(t.Context()))
	require.NoError(t, cp.StartAPIServer(t.Context()), "starting what runs does nothing")
	assert.Equal(t, url, cp.URL())
	assert.Len(t, cp.PIDs(), 2)
	assert.NotEqual(t, before, cp.PIDs())
	_, err = client.CoreV1().ServiceAccounts("default").Get(t.Context(), "kept", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "system:serviceaccount:default:kept", whoAmI(t, clientFor(t, robotConfig)).Username)
}

func TestStopLeavesNothing(t *testing.T) {
	cp := startOwn(t, controlplane.Options{})
	pids, dir := cp.PIDs(), cp.Dir()
	require.Len(t, pids, 2)
	require.DirExists(t, dir)

	require.NoError(t, cp.Stop())
	for _, pid := range pids {
		assert.False(t, alive(pid), "process %d", pid)
	}
	assert.Empty(t, cp.PIDs())
	assert.NoDirExists(t, dir)
	require.NoError(t, cp.Stop(), "stopping twice")
	require.EqualError(t, cp.StartAPIServer(t.Context()), "start the API server: the control plane was stopped")
}

func TestFlagsOfTheCallerWin(t *testing.T) {
	audit := filepath.Join(t.TempDir(), "audit.log")
	policy := filepath.Join(t.TempDir(), "audit.yaml")
	require.NoError(t, os.WriteFile(policy, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"), 0o600))
	var out bytes.Buffer
	cp := startOwn(t, controlplane.Options{
		Dir:            t.TempDir(),
		APIServerFlags: []string{"--audit-log-path=" + audit, "--audit-policy-file=" + policy, "--profiling=true", "--v=1"},
		Out:            &out,
	})
	_, err := clientFor(t, cp.AdminConfig()).CoreV1().RESTClient().Get().AbsPath("/debug/pprof/symbol").DoRaw(t.Context())
	require.NoError(t, err, "profiling is off unless the caller's flag wins")
	require.NoError(t, cp.Stop())
	assert.DirExists(t, cp.Dir(), "the caller's folder is the caller's to remove")
	assert.Contains(t, out.String(), "--profiling=\"true\"")
	log, err := os.ReadFile(audit)
	require.NoError(t, err)
	assert.Contains(t, string(log), `"requestURI":"/debug/pprof/symbol"`)
}

func TestFailedStartSaysWhyAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	_, err := controlplane.Start(t.Context(), controlplane.Options{Dir: dir, APIServerFlags: []string{"--no-such-flag"}})
	require.ErrorContains(t, err, "start a control plane: start the API server: kube-apiserver ended before it was ready")
	require.ErrorContains(t, err, "unknown flag: --no-such-flag")
	// etcd holds a lock on its data while it runs.
	f, err := os.Open(filepath.Join(dir, "etcd", "member", "snap", "db"))
	require.NoError(t, err)
	defer f.Close()
	assert.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
}
