package certmanager

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Kubelet places a Secret in a folder, as a kubelet does, until ctx ends: each
// version in a folder of its own, to which the symlink ..data is turned by one
// rename, delay after the Secret was written. Files that the Secret's users know
// are symlinks through that one, and never change.
func Kubelet(ctx context.Context, secrets typed.SecretInterface, name, dir string, delay time.Duration) error {
	placed := ""
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		// A kubelet too keeps what it has while the API server does not answer.
		secret, err := secrets.Get(ctx, name, metav1.GetOptions{})
		if err == nil && secret.ResourceVersion != placed {
			select {
			case <-time.After(delay):
			case <-ctx.Done():
				return nil
			}
			if err := place(dir, secret.ResourceVersion, secret.Data); err != nil {
				return err
			}
			placed = secret.ResourceVersion
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func place(dir, version string, files map[string][]byte) error {
	folder := filepath.Join(dir, "..version_"+version)
	errs := []error{os.Mkdir(folder, 0o755)}
	for name, data := range files {
		errs = append(errs, os.WriteFile(filepath.Join(folder, name), data, 0o600))
	}
	old, _ := os.Readlink(filepath.Join(dir, "..data"))
	errs = append(errs,
		os.Symlink(filepath.Base(folder), filepath.Join(dir, "..data_tmp")),
		os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	for name := range files {
		if old == "" {
			errs = append(errs, os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)))
		}
	}
	if old != "" {
		errs = append(errs, os.RemoveAll(filepath.Join(dir, old)))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("placing version %s: %w", version, err)
	}
	return nil
}
