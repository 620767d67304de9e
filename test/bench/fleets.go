package main

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/causeway-webhook/causeway/test/environment"
)

// place is where a fleet is: a plane, and the baseline that is called there.
type place struct {
	*environment.Environment
	baseline string
}

// plain is a plane without a baseline webhook.
func plain(e *environment.Environment) place { return place{Environment: e} }

// newFleets makes alike fleets in several places. Each deployment has a Workload
// of its own.
func newFleets(ctx context.Context, name string, instances, perDeployment int, places ...place) ([]*fleet, error) {
	fleets := make([]*fleet, len(places))
	group, ctx := errgroup.WithContext(ctx)
	for i, at := range places {
		group.Go(func() (err error) {
			namespace, labels := name, map[string]string(nil)
			if at.baseline != "" {
				namespace, labels = name+"-"+at.baseline, map[string]string{baselineLabel: at.baseline}
			}
			fleets[i], err = newFleet(ctx, at.Environment, namespace, labels, instances, perDeployment, 1)
			return err
		})
	}
	return fleets, group.Wait()
}
