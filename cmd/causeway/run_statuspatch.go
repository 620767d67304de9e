package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/causeway-webhook/causeway/statuspatch"
)

// runStatuspatch is `causeway statuspatch`.
func runStatuspatch(ctx context.Context, o *statuspatchOptions) error {
	return start(ctx, "statuspatch", &o.commonOptions, func(ctx context.Context, env environment) (service, error) {
		identity, err := newIdentity()
		if err != nil {
			return service{}, err
		}
		hints, err := newHints(ctx, o, env)
		if err != nil {
			return service{}, err
		}
		s, err := statuspatch.New(ctx, statuspatch.Options{
			Config:           env.config,
			Overlay:          o.Overlay,
			ReplicasReady:    o.ReplicasReady,
			Degraded:         o.DegradedCondition,
			RepairLoop:       o.RepairLoop,
			Budget:           o.Budget,
			ObservePods:      o.ObservePods,
			PodSelector:      o.PodSelector,
			StartGrace:       o.StartGrace,
			ScheduleGrace:    o.ScheduleGrace,
			DefaultGrants:    hints.grants(),
			LeaseNamespace:   o.LeaseNamespace,
			LeaseName:        o.LeaseName,
			Identity:         identity,
			EndpointSlice:    types.NamespacedName(o.EndpointSlice),
			AdvertiseAddress: o.Advertise,
			Registerer:       env.registerer,
			Logger:           env.logger,
		})
		if err != nil {
			return service{}, err
		}
		return service{
			register: s.Register,
			run:      hints.run(s),
			ready:    []check{{"caches", s.Ready}},
			// For a balancer, where there is no EndpointSlice: 200 from the one process that reviews are to go to.
			probes: map[string]check{"/activez": {"active", func() error {
				if !s.Active() {
					return errors.New("another process is the active one, or none yet")
				}
				return nil
			}}},
			drain: s.Drain,
		}, nil
	})
}

// newHints watches the runtime classes if a hint about capabilities is asked for; nil where it is not, or where there are none.
func newHints(ctx context.Context, o *statuspatchOptions, env environment) (*hintClasses, error) {
	switch {
	case !o.CapabilityHint:
		return nil, nil
	case !env.served["runtimeclasses"]:
		env.logger.Info("This control plane has no runtime classes, so no hint about capabilities is given")
		return nil, nil
	}
	return newHintClasses(ctx, env.config)
}

// newIdentity names this process in the Lease. The host's name is for people; what makes it unique is the rest, since a
// container that restarts keeps its host's name and must not take itself for its dead predecessor.
func newIdentity() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("asking for the host's name: %w", err)
	}
	return host + "_" + string(uuid.NewUUID()), nil
}
