package krew

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// archived writes an archive as "make release" does, and returns its checksum.
func archived(t *testing.T, dir, folder string, files ...string) string {
	t.Helper()
	var data bytes.Buffer
	zipped := gzip.NewWriter(&data)
	entries := tar.NewWriter(zipped)
	require.NoError(t, entries.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755}))
	for _, name := range files {
		content := []byte(folder + " " + name)
		require.NoError(t, entries.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + name, Mode: 0o755, Size: int64(len(content))}))
		_, err := entries.Write(content)
		require.NoError(t, err)
	}
	require.NoError(t, entries.Close())
	require.NoError(t, zipped.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, folder+".tar.gz"), data.Bytes(), 0o600))
	sum := sha256.Sum256(data.Bytes())
	return hex.EncodeToString(sum[:])
}

func TestManifest(t *testing.T) {
	dir := t.TempDir()
	files := []string{"LICENSE", "README.md", "causeway", "kubectl-why"}
	arm := archived(t, dir, "causeway_v1.2.3_darwin_arm64", files...)
	amd := archived(t, dir, "causeway_v1.2.3_linux_amd64", files...)
	archived(t, dir, "causeway_v1.2.2_linux_amd64", files...) // of another release
	require.NotEqual(t, arm, amd)

	got, err := Release{Dir: dir, Version: "v1.2.3", Downloads: "https://downloads.example/v1.2.3/"}.Manifest()
	require.NoError(t, err)
	assert.Equal(t, `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: why
spec:
  description: |
    Says why a Workload of compute.datumapis.com is not running: the cause first,
    what to do about it, and the tree down to its Instances. It reads only, and
    works with Causeway on the control plane and without it.
  homepage: https://github.com/causeway-webhook/causeway
  platforms:
  - bin: kubectl-why
    files:
    - from: causeway_v1.2.3_darwin_arm64/kubectl-why
      to: .
    - from: causeway_v1.2.3_darwin_arm64/LICENSE
      to: .
    selector:
      matchLabels:
        arch: arm64
        os: darwin
    sha256: `+arm+`
    uri: https://downloads.example/v1.2.3/causeway_v1.2.3_darwin_arm64.tar.gz
  - bin: kubectl-why
    files:
    - from: causeway_v1.2.3_linux_amd64/kubectl-why
      to: .
    - from: causeway_v1.2.3_linux_amd64/LICENSE
      to: .
    selector:
      matchLabels:
        arch: amd64
        os: linux
    sha256: `+amd+`
    uri: https://downloads.example/v1.2.3/causeway_v1.2.3_linux_amd64.tar.gz
  shortDescription: Say why a Workload is not running
  version: v1.2.3
`, string(got))
}

func TestManifestSaysWhatIsWrong(t *testing.T) {
	empty := t.TempDir()
	lacking := t.TempDir()
	archived(t, lacking, "causeway_v1.2.3_linux_amd64", "LICENSE", "causeway")
	broken := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(broken, "causeway_v1.2.3_linux_amd64.tar.gz"), []byte("no archive, but as long as one"), 0o600))
	for name, tc := range map[string]struct {
		release Release
		want    string
	}{
		"a version that krew refuses":  {Release{Dir: lacking, Version: "1.2.3"}, `write krew's manifest: "1.2.3" is no version such as v1.2.3`},
		"no archives":                  {Release{Dir: empty, Version: "v1.2.3"}, "write krew's manifest: there is no archive of v1.2.3 in " + empty},
		"an archive without a plugin":  {Release{Dir: lacking, Version: "v1.2.3"}, "write krew's manifest: causeway_v1.2.3_linux_amd64.tar.gz: has no causeway_v1.2.3_linux_amd64/kubectl-why"},
		"a file that is no archive":    {Release{Dir: broken, Version: "v1.2.3"}, "write krew's manifest: causeway_v1.2.3_linux_amd64.tar.gz: gzip: invalid header"},
		"a version with a path inside": {Release{Dir: lacking, Version: "v1.2.3/.."}, `write krew's manifest: "v1.2.3/.." is no version such as v1.2.3`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tc.release.Manifest()
			assert.EqualError(t, err, tc.want)
		})
	}
}

// Krew knows platforms by these names, which are Go's.
func TestPlatformsOfTheMakefile(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	assert.Contains(t, string(makefile), "\nPLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64\n")
	dir := t.TempDir()
	for _, p := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		archived(t, dir, "causeway_v1.0.0-rc.1_"+p, inArchive...)
	}
	got, err := Release{Dir: dir, Version: "v1.0.0-rc.1", Downloads: "https://downloads.example"}.Manifest()
	require.NoError(t, err)
	assert.Equal(t, 4, strings.Count(string(got), "sha256: "))
}
