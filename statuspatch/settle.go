package statuspatch

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

const (
	// settleAfter is how long the watch has to confirm a pending contribution.
	settleAfter = 3 * time.Second
	// settleTimeout bounds one live read.
	settleTimeout = 2 * time.Second
	settleWorkers = 4
)

// settler ends pending contributions that the watch does not confirm: writes
// that were allowed here and never stored, and watches that went silent.
type settler struct {
	api     *api
	ledger  *ledger.Ledger
	metrics *metrics
	now     func() time.Time
	log     logr.Logger
	queue   workqueue.TypedRateLimitingInterface[types.NamespacedName]
}

// add has the Instance looked at when its time is up.
func (s *settler) add(i *ledger.Instance) { s.queue.AddAfter(i.NamespacedName, settleAfter) }

// run works until ctx ends.
func (s *settler) run(ctx context.Context) {
	var group sync.WaitGroup
	for range settleWorkers {
		group.Go(func() {
			for s.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	s.queue.ShutDown()
	group.Wait()
}

func (s *settler) next(ctx context.Context) bool {
	name, shutdown := s.queue.Get()
	if shutdown {
		return false
	}
	defer s.queue.Done(name)
	since, pending := s.ledger.Pending(name)
	if !pending {
		s.queue.Forget(name)
		return true
	}
	if wait := settleAfter - s.now().Sub(since); wait > 0 {
		s.queue.AddAfter(name, wait)
		return true
	}
	read, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	live, err := s.api.instance(read, name)
	if err != nil {
		s.metrics.settle(settledFailed)
		s.log.V(1).Info("A pending contribution could not be settled; trying again", "Instance", klog.KRef(name.Namespace, name.Name), "reason", err.Error())
		s.queue.AddRateLimited(name)
		return true
	}
	s.queue.Forget(name)
	if live == nil {
		s.metrics.settle(settledGone)
	} else {
		s.metrics.settle(settledStored)
	}
	s.ledger.Settle(name, since, live)
	return true
}
