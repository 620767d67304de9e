package deploy

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/install"
)

// binary builds causeway, once.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("CAUSEWAY_BINARY"); path != "" {
		return path, nil
	}
	path := filepath.Join(scratch, "causeway")
	build := exec.Command("go", "build", "-o", path, "./cmd/causeway")
	build.Dir = filepath.Join("..", "..") // the product's module, not the tests'
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// command prepares a run of the binary with a certificate and free ports.
func command(t *testing.T, ctx context.Context, kubeconfig, name string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	all := []string{name, "--kubeconfig", kubeconfig, "--cert-dir", certificate(t), "--port=0",
		"--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=127.0.0.1:0"}
	cmd := exec.CommandContext(ctx, path, append(all, args...)...)
	cmd.Env = append(os.Environ(), "KUBERNETES_SERVICE_HOST=")
	return cmd
}

func certificate(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"causeway-webhook." + ownNamespace + ".svc", "causeway-status." + ownNamespace + ".svc"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for file, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: der}, "tls.key": {Type: "PRIVATE KEY", Bytes: keyDER}} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600))
	}
	return dir
}

func kubeconfigFor(t *testing.T, config *rest.Config) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, controlplane.WriteKubeconfig(path, config))
	return path
}

// One line that says what to do, exit code 1, within 15 s.
func TestFaultsAtStartAreToldInOneLine(t *testing.T) {
	deployed(t, overlay("default"), nil)
	account, err := cp.ServiceAccountConfig(t.Context(), ownNamespace, ownAccount)
	require.NoError(t, err)
	good := kubeconfigFor(t, account)

	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := rest.CopyConfig(account)
	nobody.Host = "https://" + closed.Addr().String()
	require.NoError(t, closed.Close())

	hung, err := net.Listen("tcp", "127.0.0.1:0") // accepts in the kernel and never answers
	require.NoError(t, err)
	t.Cleanup(func() { _ = hung.Close() }) // parallel sub-tests run after this function
	silent := rest.CopyConfig(account)
	silent.Host = "https://" + hung.Addr().String()

	stranger := rest.CopyConfig(account)
	stranger.BearerToken = "nonsense"

	for name, tc := range map[string]struct {
		kubeconfig string
		args       []string
		want       string
	}{
		"no certificate":           {good, []string{"--cert-dir", t.TempDir()}, "mount a Secret of type kubernetes.io/tls"},
		"no kubeconfig":            {filepath.Join(t.TempDir(), "none"), nil, "does not exist: give the path of a kubeconfig"},
		"no API server":            {kubeconfigFor(t, nobody), nil, "cannot reach the API server at " + nobody.Host},
		"an API server that hangs": {kubeconfigFor(t, silent), nil, "cannot reach the API server at " + silent.Host},
		"a token nobody knows":     {kubeconfigFor(t, stranger), nil, "does not know who this is"},
	} {
		for _, sub := range []string{"webhook", "statuspatch"} {
			t.Run(name+" "+sub, func(t *testing.T) {
				t.Parallel()
				failsWith(t, tc.kubeconfig, sub, tc.want, tc.args...)
			})
		}
	}
}

// A kind without its CRD; Workloads may be absent.
func TestMissingCRDsAtStart(t *testing.T) {
	bare, err := controlplane.Start(t.Context(), controlplane.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, bare.Stop()) }()
	require.NoError(t, install.Install(t.Context(), bare.AdminConfig(), rendered(t, overlay("default")), install.Options{}))
	account, err := bare.ServiceAccountConfig(t.Context(), ownNamespace, ownAccount)
	require.NoError(t, err)
	kubeconfig := kubeconfigFor(t, account)

	failsWith(t, kubeconfig, "webhook", "has no runtimeclasses.compute.datumapis.com")
	failsWith(t, kubeconfig, "statuspatch", "does not serve instances.compute.datumapis.com: install the compute API's CRDs first")
	applyCRD(t, bare, "instances.yaml")
	failsWith(t, kubeconfig, "webhook", "has no runtimeclasses.compute.datumapis.com")
	failsWith(t, kubeconfig, "statuspatch", "does not serve workloaddeployments.compute.datumapis.com: install the compute API's CRDs first")
	applyCRD(t, bare, "workloaddeployments.yaml")
	runs(t, kubeconfig, "statuspatch")
	applyCRD(t, bare, "runtimeclasses.yaml")
	runs(t, kubeconfig, "webhook")
}

// applyCRD installs one file of test/crds.
func applyCRD(t *testing.T, to *controlplane.ControlPlane, file string) {
	t.Helper()
	dir := t.TempDir()
	data, err := os.ReadFile(filepath.Join("..", "crds", file))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, file), data, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("resources: ["+file+"]\n"), 0o600))
	objects, err := install.Render(dir)
	require.NoError(t, err)
	require.NoError(t, install.Install(t.Context(), to.AdminConfig(), objects, install.Options{}))
}

// Both become ready as the account of deploy/, say so check by check, and end orderly.
func TestTheBinaryRunsAsDeployed(t *testing.T) {
	deployed(t, overlay("default"), nil)
	account, err := cp.ServiceAccountConfig(t.Context(), ownNamespace, ownAccount)
	require.NoError(t, err)
	kubeconfig := kubeconfigFor(t, account)
	for _, name := range []string{"webhook", "statuspatch"} {
		t.Run(name, func(t *testing.T) { runs(t, kubeconfig, name) })
	}
}

func failsWith(t *testing.T, kubeconfig, name, want string, args ...string) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := command(t, t.Context(), kubeconfig, name, args...)
	cmd.Stderr = &stderr
	start := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 1, exit.ExitCode())
	assert.Less(t, time.Since(start), 15*time.Second)
	said := strings.TrimSpace(stderr.String())
	assert.NotContains(t, said, "\n", "one line")
	assert.Contains(t, said, want)
	assert.True(t, strings.HasPrefix(said, "causeway: "), said)
	t.Log(said)
}

// runs starts the binary, waits until it is ready, and stops it.
func runs(t *testing.T, kubeconfig, name string) {
	t.Helper()
	cmd := command(t, t.Context(), kubeconfig, name, "--shutdown-delay=100ms")
	logs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var all bytes.Buffer
	probes := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		decoder := json.NewDecoder(io.TeeReader(logs, &all))
		for {
			var line struct{ Server, Address string }
			if decoder.Decode(&line) != nil {
				_, _ = io.Copy(&all, logs)
				return
			}
			if line.Server == "probes" {
				probes <- line.Address
			}
		}
	}()
	var address string
	select {
	case address = <-probes:
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		<-read
		t.Fatal(all.String())
	}
	get := func(path string) (int, string) {
		response, err := http.Get("http://" + address + path)
		if err != nil {
			return 0, err.Error()
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(body)
	}
	eventually(t, "it is ready", func() bool { code, _ := get("/readyz"); return code == http.StatusOK })
	_, verbose := get("/readyz?verbose")
	assert.Equal(t, "[+]shutdown ok\n[+]listener ok\n[+]certificate ok\n[+]caches ok\ncheck passed\n", verbose)
	code, _ := get("/activez")
	if name == "webhook" {
		assert.Equal(t, http.StatusNotFound, code)
	} else {
		eventually(t, "it takes over", func() bool { code, _ := get("/activez"); return code == http.StatusOK })
	}
	stopped := time.Now()
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	<-read
	require.NoError(t, cmd.Wait(), all.String())
	// Of the 30 s a Pod has, what is under way is waited for at most 15 s; nothing is.
	assert.Less(t, time.Since(stopped), 15*time.Second)
	assert.NotContains(t, all.String(), `"level":"error"`)
}
