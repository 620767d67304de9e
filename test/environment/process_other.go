//go:build !linux

package environment

import "os/exec"

func dieWithParent(*exec.Cmd) {}

func (p *Process) start() error { return p.cmd.Start() }
