package docs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

// patience bounds one block of commands.
const patience = 2 * time.Minute

// everyPage is each page, read.
func everyPage(t *testing.T) map[string][]block {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(environment.Root(), "docs", "*.md"))
	require.NoError(t, err)
	pages := map[string][]block{}
	for _, path := range append(paths, filepath.Join(environment.Root(), "README.md")) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		found, err := blocks(string(text))
		require.NoError(t, err, path)
		pages[filepath.Base(path)] = found
	}
	return pages
}

// The world is the one that `make demo KEEP=1` leaves running, and is kept running
// like there.
func TestWhatThePagesSayToTypeWorks(t *testing.T) {
	crlog.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	pages := everyPage(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := t.TempDir()
	programs := filepath.Join(dir, "bin")
	require.NoError(t, os.Mkdir(programs, 0o700))
	binary, err := environment.Binary(ctx, dir, false)
	require.NoError(t, err)
	plugin, err := environment.Plugin(ctx, programs, false)
	require.NoError(t, err)
	require.FileExists(t, plugin)
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(programs, "kubectl"), "./kubectl")
	build.Dir, build.Env = filepath.Join(environment.Root(), "test"), append(os.Environ(), "CGO_ENABLED=0")
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))
	_, err = controlplane.EnsureBinaries(ctx, os.Stderr)
	require.NoError(t, err)

	e, err := environment.Start(ctx, environment.Options{
		Binary: binary, DeployOverlay: "default", Webhook: 1, Statuspatch: 2,
		Platform: &platform.Options{Flavour: platform.Unikraft, Parallel: true},
	})
	require.NoError(t, err)
	operator := filepath.Join(dir, "operator")
	require.NoError(t, e.WriteOperatorFiles(operator))
	kept := keep(ctx, e, operator)
	t.Cleanup(func() {
		cancel()
		<-kept
		require.NoError(t, e.Stop())
	})

	shell := func(t *testing.T, commands string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-eu", "-c", commands)
		cmd.Dir = environment.Root()
		cmd.WaitDelay = time.Second
		cmd.Env = append(os.Environ(), "DEMO="+operator, "KUBECONFIG="+filepath.Join(operator, "kubeconfig"),
			"PATH="+strings.Join([]string{operator, programs, os.Getenv("PATH")}, string(filepath.ListSeparator)), "HOME="+dir)
		output, err := cmd.CombinedOutput()
		t.Logf("%s\n%s", commands, output)
		require.NoError(t, err)
	}
	shell(t, `kubectl apply -f test/demo/manifests/runtimeclass.yaml
until kubectl apply -f test/demo/manifests/workload.yaml; do sleep 1; done
kubectl wait --for=condition=Available workload/api --timeout=60s`)

	// The pages one after the other; the world is as the last one left it.
	for _, page := range []string{"operating.md", "troubleshooting.md", "security.md"} {
		for _, b := range pages[page] {
			if b.notRun == "" && !t.Run(page+":"+string(firstLine(b.commands)), func(t *testing.T) { shell(t, b.commands) }) {
				return
			}
		}
		delete(pages, page)
	}
	for page, found := range pages {
		for _, b := range found {
			require.NotEmpty(t, b.notRun, "%s line %d: nobody runs this: add the page to this test, or say above it why not", page, b.line)
		}
	}
}

// keep starts what ends, until ctx does.
func keep(ctx context.Context, e *environment.Environment, operator string) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			// An error is what a page wants to be seen, and is tried again.
			_, _ = e.KeepUp(ctx, operator)
		}
	}()
	return done
}

func firstLine(commands string) string {
	for i, r := range commands {
		if r == '\n' {
			return commands[:i]
		}
	}
	return commands
}
