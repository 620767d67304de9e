package report

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Machine is what the numbers were measured on, and of which versions.
type Machine struct {
	CPU    string
	Cores  int
	Memory string
	Kernel string
	Go     string
	// APIServer, Etcd and Causeway are versions; Causeway's is a commit.
	APIServer, Etcd, Causeway string
}

const unknown = "unknown"

// ThisMachine asks the system, the two programs of the control plane and git in
// the folder of the sources. What none of them tells is "unknown".
func ThisMachine(ctx context.Context, apiServer, etcd, sources string) Machine {
	return Machine{
		CPU:    cmp.Or(field("/proc/cpuinfo", "model name"), runtime.GOARCH),
		Cores:  runtime.NumCPU(),
		Memory: memory(field("/proc/meminfo", "MemTotal")),
		Kernel: kernel(),
		Go:     runtime.Version(),
		// "Kubernetes v1.37.2" and "etcd Version: 3.7.0", then more lines.
		APIServer: strings.TrimPrefix(said(ctx, "", apiServer, "--version"), "Kubernetes "),
		Etcd:      strings.TrimPrefix(said(ctx, "", etcd, "--version"), "etcd Version: "),
		Causeway:  said(ctx, sources, "git", "describe", "--always", "--dirty", "--abbrev=12"),
	}
}

// String is one line each, for a terminal.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s of memory, %s\n%s, kube-apiserver %s, etcd %s, Causeway %s\n",
		m.CPU, m.Cores, m.Memory, m.Kernel, m.Go, m.APIServer, m.Etcd, m.Causeway)
}

// field is the first value under a name in a file of "name : value" lines.
func field(path, name string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		key, value, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// memory makes GiB of what /proc/meminfo says.
func memory(meminfo string) string {
	kib, err := strconv.ParseFloat(strings.TrimSuffix(meminfo, " kB"), 64)
	if err != nil {
		return unknown
	}
	return fmt.Sprintf("%.0f GiB", kib/(1<<20))
}

func kernel() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	return "Linux " + strings.TrimSpace(string(release))
}

// said is the first line that a program prints.
func said(ctx context.Context, dir, program string, args ...string) string {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = dir
	out, err := command.Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || line == "" {
		return unknown
	}
	return line
}
