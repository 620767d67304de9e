package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/install"
)

// baselineLabel of a namespace names the baseline that is called for what is
// written in it; without one no webhook is.
const baselineLabel = "bench.causeway.dev/baseline"

// Baselines, by the path that test/bench/baselines serves them at.
const (
	baselineYes   = "yes"
	baselineNaive = "naive"
)

// startBaselines serves the baseline webhooks.
func (e *env) startBaselines(ctx context.Context, p *planes) (*environment.Process, error) {
	program, kubeconfig := filepath.Join(e.dir, "baselines"), filepath.Join(e.dir, "baselines.kubeconfig")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./bench/baselines")
	build.Dir = filepath.Join(environment.Root(), "test")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the baseline webhooks: %w\n%s", err, out)
	}
	if err := controlplane.WriteKubeconfig(kubeconfig, p.bare.Config(environment.Writer)); err != nil {
		return nil, err
	}
	return environment.StartProcess(ctx, "baselines", program, nil, "--kubeconfig="+kubeconfig, "--cert-dir="+p.bare.CertDir())
}

// withBaselines serves the baseline webhooks, has both bare planes call them, and
// takes all back when do is done: no other case pays for what it does not call.
func (e *env) withBaselines(ctx context.Context, p *planes, do func() error) (err error) {
	process, err := e.startBaselines(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, process.Stop()) }()
	address, err := process.Address(ctx, "reviews")
	if err != nil {
		return err
	}
	yes, errYes := baselineConfiguration(baselineYes, "https://"+address, p.bare.InstallOptions().CABundle)
	naive, errNaive := baselineConfiguration(baselineNaive, "https://"+address, p.bare.InstallOptions().CABundle)
	if err := errors.Join(errYes, errNaive); err != nil {
		return err
	}
	for _, at := range []struct {
		*environment.Environment
		configurations []*unstructured.Unstructured
	}{{p.bare, []*unstructured.Unstructured{yes, naive}}, {p.again, []*unstructured.Unstructured{yes}}} {
		if err := install.Install(ctx, at.AdminConfig(), at.configurations, install.Options{}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, install.Uninstall(ctx, at.AdminConfig(), at.configurations)) }()
	}
	return do()
}

// baselineConfiguration is what deploy/ installs for Instance statuses, calling a
// baseline for the namespaces that are labelled so: the same rule, the same match
// condition, the same timeout.
func baselineConfiguration(baseline, url string, ca []byte) (*unstructured.Unstructured, error) {
	objects, err := install.Render(filepath.Join(environment.Root(), "deploy", "overlays", "status-only"))
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind()+"/"+o.GetName() == environment.Status
	})
	if at < 0 {
		return nil, fmt.Errorf("deploy/ has no %s", environment.Status)
	}
	o := objects[at]
	o.SetName("bench-" + baseline)
	webhooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
	if err != nil || len(webhooks) != 1 {
		return nil, fmt.Errorf("%s has %d webhooks and should have one: %w", environment.Status, len(webhooks), err)
	}
	webhook := webhooks[0].(map[string]any)
	webhook["name"] = baseline + ".bench.causeway.test"
	webhook["clientConfig"] = map[string]any{"url": url + "/" + baseline, "caBundle": base64.StdEncoding.EncodeToString(ca)}
	webhook["namespaceSelector"] = map[string]any{"matchLabels": map[string]any{baselineLabel: baseline}}
	return o, unstructured.SetNestedSlice(o.Object, webhooks, "webhooks")
}
