// Command manifest prints the manifest by which krew installs kubectl-why. It
// is what "make release" runs.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/causeway-webhook/causeway/test/krew"
)

func main() {
	r := krew.Release{}
	flag.StringVar(&r.Dir, "dir", "../bin/release", "the folder with the archives")
	flag.StringVar(&r.Version, "version", "", "the release's version")
	flag.StringVar(&r.Downloads, "downloads", "", "the URL under which the archives will lie")
	flag.Parse()
	manifest, err := r.Manifest()
	if err == nil {
		_, err = os.Stdout.Write(manifest)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
