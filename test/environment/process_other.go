//go:build unix && !linux

package environment

import (
	"os/exec"
	"syscall"
)

// dieWithParent has no counterpart here: a caller that is killed outright
// leaves the processes to the user.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func (p *Process) start() error { return p.cmd.Start() }
