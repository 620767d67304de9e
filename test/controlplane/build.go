package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// program is one of the two programs, as its module publishes it.
type program struct {
	name    string
	module  string
	pkg     string
	ldflags func(version string) string
}

var etcdProgram = program{
	name:    "etcd",
	module:  "go.etcd.io/etcd/server/v3",
	pkg:     "go.etcd.io/etcd/server/v3",
	ldflags: func(string) string { return "-s -w" },
}

var apiServerProgram = program{
	name:    "kube-apiserver",
	module:  "k8s.io/kubernetes",
	pkg:     "k8s.io/kubernetes/cmd/kube-apiserver",
	ldflags: apiServerLDFlags,
}

// apiServerLDFlags stamps the version, which a release build takes from git and
// a build from the module cache cannot know. Without it the server calls itself
// v0.0.0-master, and clients that compare versions turn features off.
func apiServerLDFlags(version string) string {
	const pkg = "k8s.io/component-base/version"
	flags := []string{"-s", "-w", "-X " + pkg + ".gitVersion=" + version, "-X " + pkg + ".gitTreeState=clean"}
	if parts := strings.Split(strings.TrimPrefix(version, "v"), "."); len(parts) >= 2 {
		flags = append(flags, "-X "+pkg+".gitMajor="+parts[0], "-X "+pkg+".gitMinor="+parts[1])
	}
	return strings.Join(flags, " ")
}

// buildBinaries returns the cached programs, and builds those that are missing:
// the newest, or those of an older minor version of Kubernetes. Etcd is of one
// version for all.
func buildBinaries(ctx context.Context, log io.Writer, kubernetes string) (Binaries, error) {
	dir, err := moduleDir()
	if err != nil {
		return Binaries{}, err
	}
	newest, err := readSource(dir, newestModFile)
	if err != nil {
		return Binaries{}, err
	}
	server := newest
	if kubernetes != "" {
		if server, err = readSource(dir, olderModFile(kubernetes)); err != nil {
			return Binaries{}, fmt.Errorf("find Kubernetes %s, which %s asks for: %w", kubernetes, VersionEnv, err)
		}
	}
	root, err := os.UserCacheDir()
	if err != nil {
		return Binaries{}, fmt.Errorf("find the user's cache directory: %w", err)
	}
	c := cache{dir: filepath.Join(root, "causeway", runtime.GOOS+"-"+runtime.GOARCH)}

	ensure := func(p program, src source) (string, error) {
		version, err := src.version(p.module)
		if err != nil {
			return "", err
		}
		title := p.name + " " + version
		path, err := c.ensure(ctx, log, p.name+"-"+version+"-"+src.fingerprint, title, func(ctx context.Context, out string) error {
			return withSignsOfLife(log, "building "+title, 15*time.Second, func() error {
				return goBuild(ctx, dir, src.modFile, p, version, out)
			})
		})
		if err != nil {
			return "", fmt.Errorf("build %s: %w", title, err)
		}
		return path, nil
	}

	var b Binaries
	// One after the other: the compiler alone already uses every core.
	if b.Etcd, err = ensure(etcdProgram, newest); err != nil {
		return Binaries{}, err
	}
	if b.APIServer, err = ensure(apiServerProgram, server); err != nil {
		return Binaries{}, err
	}
	return b, nil
}

// goBuild compiles p into out, in the module at dir as modFile describes it, and
// starts it once to see that it runs and says the right version.
func goBuild(ctx context.Context, dir, modFile string, p program, version, out string) (err error) {
	// A build that is cut off leaves its work behind; here it leaves with this.
	work, err := os.MkdirTemp("", "causeway-build-")
	if err != nil {
		return fmt.Errorf("make a folder to build in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	build := exec.CommandContext(ctx, "go", "build", "-modfile="+modFile, "-mod=readonly", "-trimpath", "-buildvcs=false",
		"-ldflags", p.ldflags(version), "-o", out, p.pkg)
	build.Dir = dir
	// The caller may itself run under other settings: a race build, a workspace,
	// a cross build. None of them is meant for these programs.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH,
		"GOTMPDIR="+work)
	if err := runQuietly(ctx, build); err != nil {
		return err
	}
	show := exec.CommandContext(ctx, out, "--version")
	said, err := show.Output()
	if err != nil {
		return fmt.Errorf("run %s --version: %w", p.name, err)
	}
	if want := strings.TrimPrefix(version, "v"); !strings.Contains(string(said), want) {
		return fmt.Errorf("%s --version says %q, want %s", p.name, strings.TrimSpace(string(said)), want)
	}
	return nil
}

// runQuietly runs cmd in a process group of its own, so that a cancelled build
// ends its compilers too, and shows its output only if it fails.
func runQuietly(ctx context.Context, cmd *exec.Cmd) error {
	dieWithParent(cmd)
	runtime.LockOSThread() // see startProcess
	defer runtime.UnlockOSThread()
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		if text := strings.TrimSpace(string(said)); text != "" {
			return errors.New(text)
		}
		return err
	}
	return nil
}

// withSignsOfLife runs work and, while it lasts, writes a line per interval, so
// that nobody takes minutes of silence for a hang.
func withSignsOfLife(log io.Writer, what string, interval time.Duration, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	start := time.Now()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err == nil {
				fmt.Fprintf(log, "%s: done after %s\n", what, time.Since(start).Round(time.Second))
			}
			return err
		case <-tick.C:
			fmt.Fprintf(log, "%s: %s so far\n", what, time.Since(start).Round(time.Second))
		}
	}
}
