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
	if err := p.start(ctx, e); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return p, nil
}

func (p *planes) start(ctx context.Context, e *env) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, bare := range []**environment.Environment{&p.bare, &p.again} {
		group.Go(func() (err error) {
			*bare, err = environment.Start(ctx, environment.Options{Binary: e.binary})
			return err
		})
	}
	group.Go(func() (err error) {
		p.causeway, err = e.startWithCauseway(ctx, environment.Options{DeployOverlay: "default", Webhook: 1, Statuspatch: 1})
		return err
	})
	return group.Wait()
}

func (p *planes) stop() error {
	var errs []error
	for _, plane := range []*environment.Environment{p.bare, p.again, p.causeway} {
		if plane != nil {
			errs = append(errs, plane.Stop())
		}
	}
	return errors.Join(errs...)
}

// startWithCauseway starts a control plane with Causeway, called directly.
func (e *env) startWithCauseway(ctx context.Context, options environment.Options) (*environment.Environment, error) {
	options.Binary = e.binary
	if e.profiles != "" {
		options.WebhookArgs, options.StatuspatchArgs = append(options.WebhookArgs, profileFlag), append(options.StatuspatchArgs, profileFlag)
	}
	plane, err := environment.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	if err := callDirectly(ctx, plane); err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return plane, nil
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
