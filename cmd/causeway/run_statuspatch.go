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
			run:      s.Run,
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

// newIdentity names this process in the Lease. The host's name is for people; what makes it unique is the rest, since a
// container that restarts keeps its host's name and must not take itself for its dead predecessor.
func newIdentity() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("asking for the host's name: %w", err)
	}
	return host + "_" + string(uuid.NewUUID()), nil
}
