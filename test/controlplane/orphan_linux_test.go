package controlplane_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A test that is killed runs no cleanup, so the kernel has to do it, which is
// Linux's alone.
func TestKilledCallerLeavesNoProcesses(t *testing.T) {
	caller := exec.Command(os.Args[0])
	caller.Env = append(os.Environ(), orphanEnv+"="+t.TempDir())
	caller.Stderr = os.Stderr
	stdin, err := caller.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	stdout, err := caller.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, caller.Start())
	said, err := io.ReadAll(stdout)
	require.NoError(t, err)
	require.NoError(t, caller.Process.Kill())
	require.Error(t, caller.Wait())

	fields := strings.Fields(string(said))
	require.Len(t, fields, 2)
	for _, field := range fields {
		eventually(t, func() error {
			if runs(field) {
				return errors.New("process " + field + " still runs")
			}
			return nil
		})
	}
}

// runs reports whether pid is a process that is not merely waiting to be reaped:
// what adopts an orphan inside a container may never do that.
func runs(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	after := stat[bytes.LastIndexByte(stat, ')')+1:]
	return !bytes.HasPrefix(bytes.TrimSpace(after), []byte("Z"))
}
