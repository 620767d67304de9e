package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/demo/kubectl"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/platform"
)

//go:embed manifests
var embedded embed.FS

// manifests are the files that commands name.
func manifests() fs.FS {
	files, err := fs.Sub(embedded, "manifests")
	if err != nil {
		panic(err) // the name is none that a file can have
	}
	return files
}

// classFile is the runtime class of the story, which its operator publishes.
const classFile = "runtimeclass.yaml"

// startLimit bounds how long the control plane and the platform may take.
const startLimit = 3 * time.Minute

// build makes what is needed: the control plane's programs, once per machine,
// and causeway, into dir.
func build(ctx context.Context, dir string, log io.Writer) (controlplane.Binaries, string, error) {
	programs, err := controlplane.EnsureBinaries(ctx, log)
	if err != nil {
		return programs, "", err
	}
	if os.Getenv(environment.BinaryVariable) == "" {
		_, _ = fmt.Fprintln(log, "building causeway")
	}
	causeway, err := environment.Binary(ctx, dir, false)
	return programs, causeway, err
}

// start puts the world together as it is without Causeway. It runs until stop is
// called; on an error nothing is left running.
func start(ctx context.Context, programs controlplane.Binaries, causeway, dir string) (_ *world, err error) {
	// The platform lives as long as its context does, so the limit on starting
	// must not be a deadline of it.
	ctx, cancel := context.WithCancelCause(ctx)
	limit := time.AfterFunc(startLimit, func() { cancel(fmt.Errorf("the platform did not start in %s", startLimit)) })
	defer limit.Stop()

	w := &world{}
	w.Environment, err = environment.Start(ctx, environment.Options{
		Binary:       causeway,
		ControlPlane: controlplane.Options{Binaries: programs},
		Platform: &platform.Options{
			// The provider that tells most about a failure, and finds nothing about an
			// Instance before the story says so.
			Flavour: platform.Unikraft, Initial: platform.Provisioning, Parallel: true,
		},
	})
	if err != nil {
		return nil, err
	}
	if err := w.prepare(ctx, dir); err != nil {
		return nil, errors.Join(err, w.Stop())
	}
	return w, nil
}

// prepare makes the customer's clients and what the customer finds.
func (w *world) prepare(ctx context.Context, dir string) (err error) {
	if w.kubectl, err = kubectl.New(w.Config(environment.Customer), manifests()); err != nil {
		return err
	}
	if w.reader, err = w.Client(environment.Customer); err != nil {
		return err
	}
	if err := w.preparePlugin(ctx, dir); err != nil {
		return err
	}
	return w.publishClass(ctx)
}

// publishClass does what the platform's operator did before the story begins.
// The API server holds the first create after a CRD appears back for two
// seconds; here it does not count as the time of a step.
func (w *world) publishClass(ctx context.Context) error {
	operator, err := kubectl.New(w.AdminConfig(), manifests())
	if err != nil {
		return err
	}
	answer, err := operator.Run(ctx, "apply -f "+classFile)
	if err == nil && !strings.HasSuffix(answer, " created\n") {
		err = errors.New(answer)
	}
	return err
}

// writeLogs writes how the logs of Causeway's processes end, for whoever has to
// find out why a step failed.
func (w *world) writeLogs(to io.Writer) {
	for _, p := range append(w.Webhooks, w.Sidecars...) {
		_, _ = fmt.Fprintf(to, "\nlog of %s ends:\n%s\n", p.Name, lastLines(p.Log(), 15))
	}
}

// temporary is a folder that the returned function removes.
func temporary() (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp("", "causeway-demo-")
	if err != nil {
		return "", nil, fmt.Errorf("making a folder: %w", err)
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}
