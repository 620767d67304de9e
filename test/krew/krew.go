package krew

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Release is what the manifest is made from.
type Release struct {
	// Dir holds the archives, causeway_VERSION_OS_ARCH.tar.gz, each with one folder
	// of its own name.
	Dir string
	// Version is the release's, in krew's form: v1.2.3, and what semantic versions
	// may have after it.
	Version string
	// Downloads is the URL under which the archives will lie, by their names.
	Downloads string
}

// plugin is the part of krew's manifest that is used, as its file format says.
type plugin struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string     `json:"version"`
		Homepage         string     `json:"homepage"`
		ShortDescription string     `json:"shortDescription"`
		Description      string     `json:"description"`
		Platforms        []platform `json:"platforms"`
	} `json:"spec"`
}

type platform struct {
	Selector selector `json:"selector"`
	URI      string   `json:"uri"`
	SHA256   string   `json:"sha256"`
	Files    []file   `json:"files"`
	Bin      string   `json:"bin"`
}

type selector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

type file struct {
	From string `json:"from"`
	To   string `json:"to"`
}

const description = `Says why a Workload of compute.datumapis.com is not running: the cause first,
what to do about it, and the tree down to its Instances. It reads only, and
works with Causeway on the control plane and without it.
`

// inArchive are the files that are installed.
var inArchive = []string{"kubectl-why", "LICENSE"}

// version is what krew takes for one: it wants the v.
var version = regexp.MustCompile(`^v\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$`)

// Manifest returns why.yaml. It fails if there are no archives, or if one lacks
// what would be installed from it.
func (r Release) Manifest() ([]byte, error) {
	if !version.MatchString(r.Version) {
		return nil, fmt.Errorf("write krew's manifest: %q is no version such as v1.2.3", r.Version)
	}
	var p plugin
	p.APIVersion, p.Kind, p.Metadata.Name = "krew.googlecontainertools.github.com/v1alpha2", "Plugin", "why"
	p.Spec.Version = r.Version
	p.Spec.Homepage = "https://github.com/causeway-webhook/causeway"
	p.Spec.ShortDescription = "Say why a Workload is not running"
	p.Spec.Description = description
	archives, err := filepath.Glob(filepath.Join(r.Dir, "causeway_"+r.Version+"_*_*.tar.gz"))
	if err != nil {
		return nil, fmt.Errorf("write krew's manifest: %w", err)
	}
	if len(archives) == 0 {
		return nil, fmt.Errorf("write krew's manifest: there is no archive of %s in %s", r.Version, r.Dir)
	}
	slices.Sort(archives)
	for _, archive := range archives {
		one, err := r.platform(archive)
		if err != nil {
			return nil, fmt.Errorf("write krew's manifest: %s: %w", filepath.Base(archive), err)
		}
		p.Spec.Platforms = append(p.Spec.Platforms, one)
	}
	return yaml.Marshal(p)
}

// platform reads one archive.
func (r Release) platform(archive string) (platform, error) {
	folder := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
	system, architecture, _ := strings.Cut(strings.TrimPrefix(folder, "causeway_"+r.Version+"_"), "_")
	p := platform{
		Selector: selector{MatchLabels: map[string]string{"os": system, "arch": architecture}},
		URI:      strings.TrimSuffix(r.Downloads, "/") + "/" + filepath.Base(archive),
		Bin:      inArchive[0],
	}
	f, err := os.Open(archive)
	if err != nil {
		return p, err
	}
	defer f.Close()
	sum := sha256.New()
	// What the unpacker leaves, padding say, counts too.
	whole := io.TeeReader(f, sum)
	names, err := namesIn(whole)
	if err != nil {
		return p, err
	}
	if _, err := io.Copy(io.Discard, whole); err != nil {
		return p, err
	}
	for _, name := range inArchive {
		from := path.Join(folder, name)
		if !slices.Contains(names, from) {
			return p, fmt.Errorf("has no %s", from)
		}
		p.Files = append(p.Files, file{From: from, To: "."})
	}
	p.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return p, nil
}

// namesIn lists the files of an archive.
func namesIn(r io.Reader) (names []string, err error) {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	entries := tar.NewReader(unzipped)
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag == tar.TypeReg {
			names = append(names, header.Name)
		}
	}
}
