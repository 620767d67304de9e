package statuspatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

const (
	leaseDuration = 3 * time.Second
	renewDeadline = 2 * time.Second
	// leaseRetry is how often the lease is renewed and looked at. A standby may
	// see the last renewal 2.2 retries late and try 2.2 retries after the lease
	// has run out, and settles for a second then; with 200 ms the worst case is
	// 4.9 s, with 500 ms 6.2 s, and the promise after a crash is 5 s.
	leaseRetry = 200 * time.Millisecond

	// A connection on which nothing came for so long is pinged, and closed if the
	// ping stays unanswered for so long. That leaves time for a second renewal,
	// over a new connection, before the lease is lost.
	leaseIdle = 400 * time.Millisecond
	leasePing = 800 * time.Millisecond

	// leaseFresh is how old the last renewal may be for a write to go out. It
	// leaves a process that was stopped a second to find out before another may
	// hold the lease.
	leaseFresh = 2 * time.Second

	// settling is how long after taking over no parent goes from True to False:
	// a ready write that passed while nobody was active is on its way by watch.
	settling = time.Second

	// handoverPause lets what was under way at the API server arrive before
	// another process may become active.
	handoverPause = time.Second
)

var errLeaseLost = errors.New("the lease was lost to another process or could not be renewed")

// tenure tells whether this process is the active one. Its clock is the local
// one; what it guards is guarded again by resourceVersions.
type tenure struct {
	now func() time.Time

	// renewed is when the last renewal that succeeded was sent, in nanoseconds
	// since the epoch of now; 0 while this process does not hold the lease.
	renewed atomic.Int64
	// since is when this process took over.
	since atomic.Int64
	epoch time.Time
}

func newTenure(now func() time.Time) *tenure {
	return &tenure{now: now, epoch: now().Add(-time.Nanosecond)}
}

func (t *tenure) elapsed() int64 { return int64(t.now().Sub(t.epoch)) }

// begin makes this process the active one, from a renewal sent at the given
// moment.
func (t *tenure) begin() { t.since.Store(t.elapsed()) }

// end makes it a standby.
func (t *tenure) end() { t.since.Store(0); t.renewed.Store(0) }

// active tells that this process has taken over and holds a fresh lease.
func (t *tenure) active() bool {
	renewed := t.renewed.Load()
	return t.since.Load() != 0 && renewed != 0 && time.Duration(t.elapsed()-renewed) < leaseFresh
}

// held tells that this process has taken over and has not been replaced, be its
// lease fresh or not: it must not write while the last renewal is late, and must
// forget nothing either.
func (t *tenure) held() bool { return t.since.Load() != 0 }

// untilTakeDown is how long no parent may go from True to False yet: the rest of
// the first second after taking over.
func (t *tenure) untilTakeDown() time.Duration {
	since := t.since.Load()
	if since == 0 {
		return settling
	}
	return max(0, settling-time.Duration(t.elapsed()-since))
}

// renewals notes when each renewal that succeeds was sent: the lease runs from
// that moment at the latest.
type renewals struct {
	resourcelock.Interface
	tenure *tenure
}

func (r renewals) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return r.note(record, func() error { return r.Interface.Create(ctx, record) })
}

func (r renewals) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return r.note(record, func() error { return r.Interface.Update(ctx, record) })
}

func (r renewals) note(record resourcelock.LeaderElectionRecord, write func() error) error {
	sent := r.tenure.elapsed()
	if record.HolderIdentity == "" {
		// Released: from here on, whatever becomes of the write.
		r.tenure.end()
		return write()
	}
	err := write()
	if err == nil {
		r.tenure.renewed.Store(sent)
	}
	return err
}

// election holds the lease, or waits for it.
type election struct {
	core                      kubernetes.Interface
	namespace, name, identity string
	tenure                    *tenure
	log                       logr.Logger

	// takeOver is called once, when the lease is won.
	takeOver func(context.Context)

	mu      sync.Mutex
	cancel  context.CancelFunc
	retired bool
	done    chan struct{}
}

// run competes for the lease until ctx ends or resign is called, and then
// returns nil; it returns errLeaseLost when the lease was held and is not any
// more, after which this process must end.
func (e *election) run(ctx context.Context) error {
	defer close(e.done)
	ctx = klog.NewContext(ctx, e.log)
	electing, cancel := context.WithCancel(ctx)
	defer cancel()
	e.mu.Lock()
	e.cancel = cancel
	if e.retired {
		cancel()
	}
	e.mu.Unlock()

	lock := renewals{
		Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: e.namespace, Name: e.name},
			Client:     e.core.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: e.identity},
		},
		tenure: e.tenure,
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		Name:            e.name,
		LeaseDuration:   leaseDuration,
		RenewDeadline:   renewDeadline,
		RetryPeriod:     leaseRetry,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				e.tenure.begin()
				e.takeOver(ctx)
			},
			OnStoppedLeading: e.tenure.end,
		},
	})
	if err != nil {
		return fmt.Errorf("setting up the leader election: %w", err)
	}
	elector.Run(electing)
	if electing.Err() == nil {
		return errLeaseLost
	}
	return nil
}

// resign gives the lease back, if it is held, and waits until that is done or
// ctx ends.
func (e *election) resign(ctx context.Context) {
	e.mu.Lock()
	e.retired = true
	if e.cancel != nil {
		e.cancel()
	}
	e.mu.Unlock()
	select {
	case <-e.done:
	case <-ctx.Done():
	}
}
