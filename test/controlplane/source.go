package controlplane

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// source is the module in test/apiserver, which pins what is built: by its
// go.mod the newest API server and etcd, by another file beside it an older API
// server.
type source struct {
	modFile     string
	goMod       []byte
	fingerprint string
}

// newestModFile pins the API server that runs unless an older one is asked for.
const newestModFile = "go.mod"

// olderModFile is the name of the file that pins an older API server, by its
// minor version.
func olderModFile(kubernetes string) string { return "v" + kubernetes + ".mod" }

// readSource reads the pins of one such file. The fingerprint covers its sums
// too, so a change of any dependency builds anew rather than serving a binary
// that is no longer what the files say.
func readSource(dir, modFile string) (source, error) {
	goMod, err := os.ReadFile(filepath.Join(dir, modFile))
	if err != nil {
		return source{}, fmt.Errorf("read the pinned versions: %w", err)
	}
	goSum, err := os.ReadFile(filepath.Join(dir, strings.TrimSuffix(modFile, ".mod")+".sum"))
	if err != nil {
		return source{}, fmt.Errorf("read the pinned versions: %w", err)
	}
	sum := sha256.Sum256(bytes.Join([][]byte{goMod, goSum}, []byte{0}))
	return source{modFile: modFile, goMod: goMod, fingerprint: hex.EncodeToString(sum[:4])}, nil
}

// version returns the version of module that the file requires.
func (s source) version(module string) (string, error) {
	m := regexp.MustCompile(`(?m)^\s*(?:require )?` + regexp.QuoteMeta(module) + ` (v\S+)`).FindSubmatch(s.goMod)
	if m == nil {
		return "", fmt.Errorf("test/apiserver/%s requires no version of %s", s.modFile, module)
	}
	return string(m[1]), nil
}

// moduleDir finds test/apiserver. It cannot be embedded, being a module of its
// own, so it is looked for beside this source file, which is there for every
// test, and, for a binary built with -trimpath, above the working directory.
func moduleDir() (string, error) {
	var roots []string
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		roots = append(roots, filepath.Join(filepath.Dir(file), ".."))
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find test/apiserver: %w", err)
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		roots = append(roots, dir, filepath.Join(dir, "test"))
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, root := range roots {
		dir := filepath.Join(root, "apiserver")
		if src, err := readSource(dir, newestModFile); err == nil {
			if _, err := src.version(apiServerProgram.module); err == nil {
				return dir, nil
			}
		}
	}
	return "", errors.New("test/apiserver was not found: run this inside the causeway checkout, " +
		"or point " + AssetsEnv + " at a folder with etcd and kube-apiserver")
}
