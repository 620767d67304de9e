package controlplane

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel end cmd when the thread that started it ends, so
// that a caller which is itself killed outright leaves nothing running.
func dieWithParent(cmd *exec.Cmd) {
	ownGroup(cmd)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
