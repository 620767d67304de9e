package controlplane

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// builder returns a build function that writes a program and counts its calls.
func builder(calls *atomic.Int32) func(context.Context, string) error {
	return func(_ context.Context, out string) error {
		calls.Add(1)
		return os.WriteFile(out, []byte("program"), 0o755)
	}
}

func TestCacheBuildsOnce(t *testing.T) {
	c := cache{dir: filepath.Join(t.TempDir(), "new")}
	var calls atomic.Int32
	var log bytes.Buffer
	for range 2 {
		path, err := c.ensure(t.Context(), &log, "etcd-v1-abcd", "etcd v1", builder(&calls))
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(c.dir, "etcd-v1-abcd"), path)
		assert.FileExists(t, path)
	}
	assert.EqualValues(t, 1, calls.Load())
	assert.Equal(t, "building etcd v1 from its Go module; this takes minutes, once; the result is kept in "+c.dir+"\n", log.String())
}

func TestCacheSurvivesABuildThatWasCutOff(t *testing.T) {
	c := cache{dir: t.TempDir()}
	cutOff := errors.New("cut off")
	_, err := c.ensure(t.Context(), &bytes.Buffer{}, "p", "p", func(_ context.Context, out string) error {
		require.NoError(t, os.WriteFile(out, []byte("half a prog"), 0o755))
		return cutOff
	})
	require.ErrorIs(t, err, cutOff)
	assert.NoFileExists(t, filepath.Join(c.dir, "p"))

	// A build that was killed could not even remove its half.
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "p.partial-1"), []byte("half a prog"), 0o644))
	var calls atomic.Int32
	path, err := c.ensure(t.Context(), &bytes.Buffer{}, "p", "p", builder(&calls))
	require.NoError(t, err)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "program", string(data))
	left, err := filepath.Glob(path + ".partial*")
	require.NoError(t, err)
	assert.Empty(t, left)
}

// File locks belong to an open file, not to a process, so two goroutines stand
// in for two processes.
func TestCacheBuildsOnceForSeveral(t *testing.T) {
	c := cache{dir: t.TempDir()}
	var calls atomic.Int32
	building, waiting := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := c.ensure(t.Context(), &bytes.Buffer{}, "p", "p", func(ctx context.Context, out string) error {
			close(building)
			<-waiting
			return builder(&calls)(ctx, out)
		})
		assert.NoError(t, err)
	})
	<-building
	log := writerFunc(func(p []byte) (int, error) {
		assert.Equal(t, "waiting for another process that builds p\n", string(p))
		close(waiting)
		return len(p), nil
	})
	_, err := c.ensure(t.Context(), log, "p", "p", builder(&calls))
	require.NoError(t, err)
	wg.Wait()
	assert.EqualValues(t, 1, calls.Load())
}

func TestWaitingForTheCacheCanBeCancelled(t *testing.T) {
	c := cache{dir: t.TempDir()}
	unlock, err := lock(t.Context(), filepath.Join(c.dir, "p.lock"), func() {})
	require.NoError(t, err)
	defer unlock()
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	_, err = c.ensure(ctx, &bytes.Buffer{}, "p", "p", nil)
	require.ErrorIs(t, err, enough)
}

func TestLongWorkGivesSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		release := make(chan struct{})
		time.AfterFunc(40*time.Second, func() { close(release) })
		require.NoError(t, withSignsOfLife(&log, "building p v1", 15*time.Second, func() error { <-release; return nil }))
		assert.Equal(t, "building p v1: 15s so far\nbuilding p v1: 30s so far\nbuilding p v1: done after 40s\n", log.String())
	})
}

func TestAssetsNeedBothPrograms(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("program"), mode))
	}
	_, ok := assets("")
	assert.False(t, ok, "no folder is named")
	write("etcd", 0o755)
	_, ok = assets(dir)
	assert.False(t, ok, "only etcd")
	write("kube-apiserver", 0o644)
	_, ok = assets(dir)
	assert.False(t, ok, "kube-apiserver may not be run")
	require.NoError(t, os.Chmod(filepath.Join(dir, "kube-apiserver"), 0o755))
	b, ok := assets(dir)
	assert.True(t, ok)
	assert.Equal(t, Binaries{Etcd: filepath.Join(dir, "etcd"), APIServer: filepath.Join(dir, "kube-apiserver")}, b)

	t.Setenv(VersionEnv, "")
	t.Setenv(AssetsEnv, dir)
	got, err := EnsureBinaries(t.Context(), &bytes.Buffer{})
	require.NoError(t, err)
	assert.Equal(t, b, got)
}

func TestPinnedVersionsAreFound(t *testing.T) {
	dir, err := moduleDir()
	require.NoError(t, err)
	for modFile, programs := range map[string][]program{
		newestModFile:        {etcdProgram, apiServerProgram},
		olderModFile("1.36"): {apiServerProgram},
	} {
		src, err := readSource(dir, modFile)
		require.NoError(t, err)
		for _, p := range programs {
			version, err := src.version(p.module)
			require.NoError(t, err)
			assert.Regexp(t, `^v\d+\.\d+\.\d+$`, version, p.name)
		}
		_, err = src.version("example.com/none")
		assert.EqualError(t, err, "test/apiserver/"+modFile+" requires no version of example.com/none")
	}
}

func TestAnOlderVersionHasToBePinned(t *testing.T) {
	t.Setenv(VersionEnv, "1.2")
	_, err := EnsureBinaries(t.Context(), &bytes.Buffer{})
	require.ErrorContains(t, err, "find Kubernetes 1.2, which CAUSEWAY_TEST_KUBERNETES asks for: read the pinned versions: ")
	require.ErrorContains(t, err, "v1.2.mod")
}

func TestAPIServerIsStampedWithItsVersion(t *testing.T) {
	assert.Equal(t, "-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2"+
		" -X k8s.io/component-base/version.gitTreeState=clean"+
		" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37",
		apiServerLDFlags("v1.37.2"))
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
