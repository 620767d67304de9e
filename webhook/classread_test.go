package webhook

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"
)

func newSharedRead(t *testing.T, live *reader) (*sharedRead, *clocktesting.FakePassiveClock) {
	t.Helper()
	m, err := newMetrics(prometheus.NewRegistry())
	require.NoError(t, err)
	clock := clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0))
	return &sharedRead{live: live, reads: &classReads{}, clock: clock, metrics: m}, clock
}

func TestALiveReadIsGoodForASecond(t *testing.T) {
	live := &reader{classes: published()}
	s, clock := newSharedRead(t, live)
	start := clock.Now()
	for _, step := range []struct {
		after     time.Duration
		wantReads int32
	}{{0, 1}, {999 * time.Millisecond, 1}, {time.Second, 2}, {1500 * time.Millisecond, 2}, {2 * time.Second, 3}, {time.Second, 4}} {
		clock.SetTime(start.Add(step.after))
		classes, err := s.get(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"general-purpose", "unikernel", "web"}, classes.names())
		assert.Equal(t, step.wantReads, live.lists.Load(), "reads after %v", step.after)
	}
}

func TestAFailedReadIsNotKept(t *testing.T) {
	live := &reader{listErr: errors.New("connection refused")}
	s, _ := newSharedRead(t, live)
	for range 2 {
		_, err := s.get(t.Context())
		require.EqualError(t, err, "reading the runtime classes: connection refused")
	}
	live.listErr, live.classes = nil, published()
	_, err := s.get(t.Context())
	require.NoError(t, err)
	assert.Equal(t, int32(3), live.lists.Load())
	assert.Equal(t, 1, counted(t, s.metrics.reads[readOK]))
	assert.Equal(t, 2, counted(t, s.metrics.reads[readError]))
}

func TestAPanicOfTheReadReachesItsWaitersAsAnError(t *testing.T) {
	s, _ := newSharedRead(t, &reader{onList: func(context.Context) { panic("no list") }})
	_, err := s.get(t.Context())
	var p *panicked
	require.ErrorAs(t, err, &p)
	assert.Equal(t, "no list", p.value)
}

// The read is slow, and its starter gives up first: the read goes on for the
// others, who were waiting for the same one.
func TestWaitersAreReleasedByTheirOwnContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := &reader{classes: published(), onList: func(ctx context.Context) {
			select {
			case <-time.After(3 * time.Second):
			case <-ctx.Done():
			}
		}}
		s, _ := newSharedRead(t, live)
		start := time.Now()
		hasty, cancel := context.WithTimeoutCause(t.Context(), time.Second, errSlow)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := s.get(hasty)
			assert.EqualError(t, err, "reading the runtime classes: no answer in time")
			assert.Equal(t, time.Second, time.Since(start))
		})
		synctest.Wait()
		for range 5 {
			wg.Go(func() {
				_, err := s.get(t.Context())
				assert.NoError(t, err)
				assert.Equal(t, 3*time.Second, time.Since(start))
			})
		}
		wg.Wait()
		assert.Equal(t, int32(1), live.lists.Load())
	})
}

// A reader that hangs is given up after the longest a review may take, so that
// the next refusal starts a read of its own.
func TestAReadThatHangsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := &reader{onList: func(ctx context.Context) { <-ctx.Done() }}
		s, _ := newSharedRead(t, live)
		_, err := s.get(t.Context())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = s.get(t.Context())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, int32(2), live.lists.Load())
	})
}

// Run under -race: many reviews, a moving clock, now and then a failure.
func TestSharedReadUnderConcurrency(t *testing.T) {
	var n sync.Map
	live := &reader{classes: published(), onList: func(context.Context) {
		if _, twice := n.LoadOrStore("reading", true); twice {
			t.Error("two reads at once")
		}
		runtime.Gosched() // a read takes a while, in which others may begin
		n.Delete("reading")
	}}
	s, clock := newSharedRead(t, live)
	start := clock.Now()
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range 20 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				if i%8 == 0 {
					cancel() // this one never waits
				}
				classes, err := s.get(ctx)
				if err == nil {
					assert.NotNil(t, classes.find("web"))
				} else {
					assert.ErrorIs(t, err, context.Canceled)
				}
				cancel()
				clock.SetTime(start.Add(time.Duration(j) * 200 * time.Millisecond))
			}
		})
	}
	wg.Wait()
	<-s.call.done
	assert.Less(t, live.lists.Load(), int32(64*20))
}

// Only another list makes other classes: by pointer a review knows whether to
// judge again.
func TestTheSameVersionsAreReadOnce(t *testing.T) {
	change := func(change func(list []RuntimeClass) []RuntimeClass) []RuntimeClass {
		return change(stored(published()))
	}
	for name, tc := range map[string]struct {
		second   []RuntimeClass
		wantSame bool
	}{
		"the same":         {stored(published()), true},
		"in another order": {change(func(l []RuntimeClass) []RuntimeClass { slices.Reverse(l); return l }), true},
		"one more": {change(func(l []RuntimeClass) []RuntimeClass {
			return append(l, stored([]RuntimeClass{granting("edge", "CHOWN")})...)
		}), false},
		"one less":  {change(func(l []RuntimeClass) []RuntimeClass { return l[1:] }), false},
		"a version": {change(func(l []RuntimeClass) []RuntimeClass { l[1].ResourceVersion = "200"; return l }), false},
		"a namesake": {change(func(l []RuntimeClass) []RuntimeClass {
			l[1].UID = "another"
			return l
		}), false},
		"another in its place": {change(func(l []RuntimeClass) []RuntimeClass { l[1].Name = "edge"; return l }), false},
		"no versions":          {published(), false},
		"none":                 {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			reads, r := &classReads{}, &reader{classes: stored(published())}
			first, err := reads.read(t.Context(), r)
			require.NoError(t, err)
			r.classes = tc.second
			second, err := reads.read(t.Context(), r)
			require.NoError(t, err)
			assert.Equal(t, tc.wantSame, first == second)
			assert.Equal(t, NewClasses(tc.second), second, "what the list says")
			again, err := reads.read(t.Context(), r)
			require.NoError(t, err)
			assert.Equal(t, name != "no versions", again == second, "without a version nothing is known to be the same")
		})
	}
}
