//go:build unix && !linux

package controlplane

import "os/exec"

// dieWithParent has no counterpart here: a caller that is killed outright
// leaves the processes to the user.
func dieWithParent(cmd *exec.Cmd) { ownGroup(cmd) }
