package main

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/causeway-webhook/causeway/test/environment"
	"github.com/causeway-webhook/causeway/test/install"
)

// planes are three control planes of the same kind, each with an etcd and an API
// server of its own. Only one has Causeway: what is compared with it is not
// slowed by what Causeway watches. The second baseline is for the A/A rows, which
// so show the difference that two API servers make, too.
type planes struct {
	bare, again, causeway *environment.Environment
	// webhooks serves the baseline webhooks of both bare planes.
	webhooks *environment.Process
}

// planes returns the shared control planes, which are started if they do not run.
func (e *env) planes(ctx context.Context) (*planes, error) {
	if e.shared != nil && !e.shared.causeway.Sidecars[0].Ended() {
		return e.shared, nil
	}
	if err := e.close(); err != nil {
		return nil, err
	}
	e.say("starting three control planes")
	p := &planes{}
	e.shared = p
	if err := p.start(ctx, e.binary, e.dir); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return p, nil
}

func (p *planes) start(ctx context.Context, binary, dir string) error {
	group, starting := errgroup.WithContext(ctx)
	for _, bare := range []**environment.Environment{&p.bare, &p.again} {
		group.Go(func() (err error) {
			*bare, err = environment.Start(starting, environment.Options{Binary: binary})
			return err
		})
	}
	group.Go(func() (err error) {
		p.causeway, err = startWithCauseway(starting, environment.Options{Binary: binary, DeployOverlay: "default", Webhook: 1, Statuspatch: 1})
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return p.startBaselines(ctx, dir)
}

func (p *planes) stop() error {
	var errs []error
	if p.webhooks != nil {
		errs = append(errs, p.webhooks.Stop())
	}
	for _, plane := range []*environment.Environment{p.bare, p.again, p.causeway} {
		if plane != nil {
			errs = append(errs, plane.Stop())
		}
	}
	return errors.Join(errs...)
}

// startWithCauseway starts a control plane with Causeway, called directly.
func startWithCauseway(ctx context.Context, options environment.Options) (*environment.Environment, error) {
	e, err := environment.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	if err := callDirectly(ctx, e); err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}

// callDirectly has the API server call Causeway's processes themselves. What
// stands in for the Services else copies every byte once more and asks after
// readiness forty times a second.
func callDirectly(ctx context.Context, e *environment.Environment) error {
	serving := map[string][]*environment.Process{environment.ServiceWebhook: e.Webhooks, environment.ServiceStatus: e.Sidecars}
	objects, err := e.Manifests()
	if err != nil {
		return err
	}
	var configurations []*unstructured.Unstructured
	for _, o := range objects {
		switch o.GetKind() + "/" + o.GetName() {
		case environment.Refusal, environment.Status, environment.Overlay:
			configurations = append(configurations, o)
		}
	}
	var failed error
	options := e.InstallOptions()
	options.WebhookURL = func(service string) string {
		if len(serving[service]) == 0 {
			return ""
		}
		address, err := serving[service][0].Address(ctx, "reviews")
		failed = errors.Join(failed, err)
		return "https://" + address
	}
	if err := errors.Join(install.Install(ctx, e.AdminConfig(), configurations, options), failed); err != nil {
		return fmt.Errorf("having the API server call Causeway directly: %w", err)
	}
	e.RefusalFront.Stop()
	e.StatusFront.Stop()
	return nil
}
