// Command manifest prints one file that installs Causeway, rendered from
// deploy/. It is what "make install-manifest" runs.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/causeway-webhook/causeway/test/install"
)

func main() {
	m := install.Manifest{}
	flag.StringVar(&m.Deploy, "deploy", "../deploy", "the folder deploy/")
	flag.StringVar(&m.Overlay, "overlay", "default", "one of deploy/overlays")
	components := flag.String("components", "", "further deploy/components, separated by commas")
	flag.StringVar(&m.Namespace, "namespace", "", "install into this namespace")
	flag.StringVar(&m.Prefix, "prefix", "", "begin all names with this")
	flag.StringVar(&m.Image, "image", "", "run this image, as name:tag or name@digest")
	flag.Parse()
	m.Components = strings.FieldsFunc(*components, func(r rune) bool { return r == ',' })
	rendered, err := m.Render()
	if err == nil {
		_, err = os.Stdout.Write(rendered)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
