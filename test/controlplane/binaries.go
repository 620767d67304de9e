package controlplane

import (
	"context"
	"io"
	"os"
	"path/filepath"
)

// AssetsEnv names the folder that holds ready-made programs, by the convention
// of controller-runtime's envtest.
const AssetsEnv = "KUBEBUILDER_ASSETS"

// VersionEnv asks for an older Kubernetes, by its minor version, such as 1.36.
// There is one for each v*.mod in test/apiserver. Whoever asks gets it built,
// since nobody knows of which version ready-made programs are.
const VersionEnv = "CAUSEWAY_TEST_KUBERNETES"

// Binaries are the paths of the two programs of a control plane.
type Binaries struct {
	Etcd      string
	APIServer string
}

// EnsureBinaries returns the two programs: those in the folder that
// KUBEBUILDER_ASSETS names, if it holds both and no version is asked for; else
// those in the user's cache, which are built first where they are missing. Building takes minutes, so what
// is being built, and a line every 15 seconds while it is, goes to log.
func EnsureBinaries(ctx context.Context, log io.Writer) (Binaries, error) {
	kubernetes := os.Getenv(VersionEnv)
	if b, ok := assets(os.Getenv(AssetsEnv)); ok && kubernetes == "" {
		return b, nil
	}
	return buildBinaries(ctx, log, kubernetes)
}

// assets reports whether dir holds both programs. One of the two is not enough:
// versions that were never tried together would be mixed.
func assets(dir string) (Binaries, bool) {
	if dir == "" {
		return Binaries{}, false
	}
	b := Binaries{
		Etcd:      filepath.Join(dir, "etcd"),
		APIServer: filepath.Join(dir, "kube-apiserver"),
	}
	return b, isProgram(b.Etcd) && isProgram(b.APIServer)
}

// isProgram reports whether path is a file that may be executed.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
