package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
)

// whyScene is a scene in which users call the built plugin.
type whyScene struct {
	*scene
	plugin string
	dir    string
}

func newWhyScene(s *scene) *whyScene {
	s.t.Helper()
	w := &whyScene{scene: s, dir: s.t.TempDir()}
	var err error
	w.plugin, err = environment.Plugin(s.ctx, w.dir, false)
	require.NoError(s.t, err)
	for _, user := range []string{environment.Customer, halfBlind} {
		require.NoError(s.t, controlplane.WriteKubeconfig(w.kubeconfig(user), s.Config(user)))
	}
	return w
}

func (w *whyScene) kubeconfig(user string) string { return filepath.Join(w.dir, user) }

// halfBlind may read Workloads and their deployments, and no Instance.
const halfBlind = "bob"

func (w *whyScene) allowHalfBlind() {
	w.t.Helper()
	admin, err := w.Client(controlplane.Installer)
	require.NoError(w.t, err)
	require.NoError(w.t, admin.Create(w.ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: halfBlind},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{computeapi.Group}, Resources: []string{"workloads", "workloaddeployments"}, Verbs: []string{"get", "list", "watch"},
		}},
	}))
	require.NoError(w.t, admin.Create(w.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: halfBlind},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: halfBlind},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: halfBlind}},
	}))
}

func (w *whyScene) command(ctx context.Context, user string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.plugin, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.kubeconfig(user))
	return cmd
}

// why runs `kubectl why` as a user.
func (w *whyScene) why(user string, args ...string) (stdout, stderr string, code int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	cmd := w.command(ctx, user, args...)
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exited *exec.ExitError
	if !errors.As(err, &exited) {
		require.NoError(w.t, err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// watching is a `kubectl why --watch` under way.
type watching struct {
	cmd *exec.Cmd

	mu   sync.Mutex
	text strings.Builder
}

// Write takes in what the plugin prints.
func (w *watching) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *watching) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func (w *whyScene) watch(args ...string) *watching {
	w.t.Helper()
	running := &watching{}
	running.cmd = w.command(w.ctx, environment.Customer, append(args, "--watch")...)
	running.cmd.Stdout, running.cmd.Stderr = running, running
	require.NoError(w.t, running.cmd.Start())
	return running
}

// interrupt ends it as Ctrl-C does, and tells the exit code.
func (w *watching) interrupt() int {
	_ = w.cmd.Process.Signal(syscall.SIGINT)
	_ = w.cmd.Wait()
	return w.cmd.ProcessState.ExitCode()
}
