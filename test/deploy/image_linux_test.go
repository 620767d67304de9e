package deploy

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/causeway-webhook/causeway/test/environment"
)

// No container engine is here, so the image is tried by its parts: what the Dockerfile copies, what it builds, and how
// that runs where there is nothing else.
func dockerfile(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(environment.Root(), "Dockerfile"))
	require.NoError(t, err)
	return strings.ReplaceAll(string(data), "\\\n", "")
}

func TestTheDockerfileCopiesWhatThereIs(t *testing.T) {
	copied := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^COPY ([^-].*)$`).FindAllStringSubmatch(dockerfile(t), -1) {
		words := strings.Fields(line[1])
		for _, source := range words[:len(words)-1] {
			_, err := os.Stat(filepath.Join(environment.Root(), source))
			assert.NoError(t, err)
			copied[source] = true
		}
	}
	// And all that the binary is made of.
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if .Module}}{{if .Module.Main}}{{.ImportPath}}{{end}}{{end}}", "./cmd/causeway")
	list.Dir = environment.Root()
	out, err := list.Output()
	require.NoError(t, err)
	for _, pkg := range strings.Fields(string(out)) {
		folder, _, _ := strings.Cut(strings.TrimPrefix(pkg, "github.com/causeway-webhook/causeway/"), "/")
		assert.True(t, copied[folder], "%s is not in the image's build", pkg)
	}
}

// imageBinary runs the build command of the Dockerfile, with its output elsewhere.
func imageBinary(t *testing.T, to string) {
	t.Helper()
	found := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 .*go build .*)$`).FindStringSubmatch(dockerfile(t))
	require.Len(t, found, 2)
	build := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(found[1], "-o /causeway", `-o "$OUT"`, 1))
	build.Dir = environment.Root()
	build.Env = append(os.Environ(), "OUT="+to, "TARGETOS="+runtime.GOOS, "TARGETARCH="+runtime.GOARCH, "VERSION=v1.2.3", "COMMIT=abc")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestTheImagesBinaryNeedsNothingAround(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "causeway")
	imageBinary(t, path)
	again := filepath.Join(t.TempDir(), "causeway")
	imageBinary(t, again)
	one, err := os.ReadFile(path)
	require.NoError(t, err)
	two, err := os.ReadFile(again)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(one, two), "the same source gives the same bytes")

	file, err := elf.Open(path)
	require.NoError(t, err)
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	require.NoError(t, err)
	assert.Empty(t, libraries)
	for _, p := range file.Progs {
		assert.NotEqual(t, elf.PT_INTERP, p.Type, "it asks for a dynamic loader")
	}

	deployed(t, overlay("default"), nil)
	account, err := cp.ServiceAccountConfig(t.Context(), ownNamespace, ownAccount)
	require.NoError(t, err)
	certs := certificate(t)
	for from, to := range map[string]string{
		kubeconfigFor(t, account):       "kubeconfig",
		filepath.Join(certs, "tls.crt"): "tls.crt",
		filepath.Join(certs, "tls.key"): "tls.key",
	} {
		data, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(root, to), data, 0o444))
		require.NoError(t, os.Chmod(filepath.Join(root, to), 0o444)) // whatever the umask
	}
	require.NoError(t, os.Chmod(path, 0o555))
	// Nothing in there may be written to, least of all by a user that nobody knows and who has no home.
	require.NoError(t, os.Chmod(root, 0o555))
	t.Cleanup(func() { _ = os.Chmod(root, 0o755) })
	for _, name := range []string{"webhook", "statuspatch"} {
		t.Run(name, func(t *testing.T) { runsAlone(t, root, name) })
	}
}

// runsAlone runs the binary with root as all there is, until it serves, and stops it. Who may not change roots, as not
// even every root may, runs it where it lies, as himself, with no more in its environment.
func runsAlone(t *testing.T, root, name string) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	at, attributes := "/", &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 61234, Gid: 61234}}
	try := exec.CommandContext(ctx, "/causeway", "--version")
	try.Dir, try.Env, try.SysProcAttr = at, []string{}, attributes
	if err := try.Run(); errors.Is(err, syscall.EPERM) {
		at, attributes = root, nil
	} else {
		require.NoError(t, err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(at, "causeway"), name,
		"--kubeconfig="+filepath.Join(at, "kubeconfig"), "--cert-dir="+at, "--port=0", "--shutdown-delay=0s",
		"--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=127.0.0.1:0")
	cmd.Dir, cmd.Env = at, []string{}
	cmd.SysProcAttr = attributes
	logs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var said strings.Builder
	for lines := bufio.NewScanner(logs); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), `"server":"reviews"`) {
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		}
	}
	require.NoError(t, cmd.Wait(), said.String())
	assert.Contains(t, said.String(), `"version":"v1.2.3 (commit abc) `)
}
