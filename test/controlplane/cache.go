package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// cache keeps built programs. A file under its final name is whole: it is built
// under another name and renamed when done, so neither an interrupted build nor
// a second process can leave or see a broken one.
type cache struct {
	dir string
}

// partialSuffix marks a file that is being built.
const partialSuffix = ".partial-"

// ensure returns the path of the file called key, calling build for it if it is
// not there. Of several processes one builds and the others wait for it.
func (c cache) ensure(ctx context.Context, log io.Writer, key, title string, build func(ctx context.Context, out string) error) (string, error) {
	path := filepath.Join(c.dir, key)
	if isProgram(path) {
		return path, nil
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(ctx, path+".lock", func() {
		fmt.Fprintf(log, "waiting for another process that builds %s\n", title)
	})
	if err != nil {
		return "", err
	}
	defer unlock()
	if isProgram(path) {
		return path, nil
	}

	fmt.Fprintf(log, "building %s from its Go module; this takes minutes, once; the result is kept in %s\n", title, c.dir)
	// The lock is ours, so such files were left by builds that were cut off.
	if err := removeAll(path + partialSuffix + "*"); err != nil {
		return "", err
	}
	// A name of our own, since the compiler of a killed process may still write.
	partial := fmt.Sprintf("%s%s%d", path, partialSuffix, os.Getpid())
	if err := build(ctx, partial); err != nil {
		return "", errors.Join(err, removeAll(partial))
	}
	if err := syncFile(partial); err != nil {
		return "", err
	}
	if err := os.Rename(partial, path); err != nil {
		return "", err
	}
	return path, nil
}

// lock takes the lock file at path, and calls waiting once if another process
// holds it. The lock dies with its process, so none is ever left behind.
func lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	retry := time.NewTicker(200 * time.Millisecond)
	defer retry.Stop()
	for said := false; ; said = true {
		held, err := tryLock(f)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		if held {
			return func() { f.Close() }, nil
		}
		if !said {
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		case <-retry.C:
		}
	}
}

// syncFile has the file on disk before it gets its final name, since after a
// power cut a rename may survive the data it was meant to publish.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// removeAll removes the files that match pattern, if any.
func removeAll(pattern string) error {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
