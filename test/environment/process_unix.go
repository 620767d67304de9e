//go:build unix

package environment

import (
	"os/exec"
	"syscall"
)

// ownGroup makes cmd the leader of a process group, so that a Ctrl-C meant for
// the caller does not reach it, and has its cancelling end the whole group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
