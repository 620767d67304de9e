package environment

import (
	"os/exec"
	"runtime"
	"syscall"
)

// dieWithParent has the kernel end the process with this one, however this one
// ends.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// start starts the process from a thread that lives as long as this process:
// the kernel ties the signal above to the thread that started the child.
func (p *Process) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		started <- p.cmd.Start()
		<-p.done
		runtime.UnlockOSThread()
	}()
	return <-started
}
