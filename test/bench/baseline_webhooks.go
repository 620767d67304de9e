package main

import (
	"context"
	"encoding/base64"
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

// startBaselines serves the baseline webhooks and has both bare planes call them.
func (p *planes) startBaselines(ctx context.Context, dir string) error {
	program := filepath.Join(dir, "baselines")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./bench/baselines")
	build.Dir = filepath.Join(environment.Root(), "test")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the baseline webhooks: %w\n%s", err, out)
	}
	kubeconfig := filepath.Join(dir, "baselines.kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, p.bare.Config(environment.Writer)); err != nil {
		return err
	}
	var err error
	p.webhooks, err = environment.StartProcess(ctx, "baselines", program, nil, "--kubeconfig="+kubeconfig, "--cert-dir="+p.bare.CertDir())
	if err != nil {
		return err
	}
	address, err := p.webhooks.Address(ctx, "reviews")
	if err != nil {
		return err
	}
	for _, plane := range []*environment.Environment{p.bare, p.again} {
		for _, baseline := range []string{baselineYes, baselineNaive} {
			if plane == p.again && baseline == baselineNaive {
				continue // it writes to one plane only
			}
			configuration, err := baselineConfiguration(baseline, "https://"+address, p.bare.InstallOptions().CABundle)
			if err != nil {
				return err
			}
			if err := install.Install(ctx, plane.AdminConfig(), []*unstructured.Unstructured{configuration}, install.Options{}); err != nil {
				return err
			}
		}
	}
	return nil
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
