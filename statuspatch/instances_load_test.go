package statuspatch

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

const (
	loadReviews = 100_000
	loadWriters = 1000
)

// A hundred thousand reviews that each change the roll-up, by a thousand writers
// who write as fast as they can: neither goroutines nor memory grow, whether the
// API server stores, fails, or hangs until the budget is spent.
func TestAHundredThousandReviewsLeaveNothingBehind(t *testing.T) {
	for _, tc := range []struct {
		name    string
		reviews int
		budget  time.Duration
		before  func(*http.Request) int
	}{
		{"stored", loadReviews / 2, DefaultBudget, nil},
		{"the API server fails", loadReviews / 4, DefaultBudget, func(*http.Request) int { return http.StatusServiceUnavailable }},
		// Each review waits its budget out, which has to be short for so many.
		{"the API server hangs", loadReviews / 4, time.Millisecond, func(r *http.Request) int {
			<-r.Context().Done()
			return http.StatusGatewayTimeout
		}},
	} {
		t.Run(tc.name, func(t *testing.T) { testLoad(t, tc.reviews, tc.budget, tc.before) })
	}
}

func testLoad(t *testing.T, reviews int, budget time.Duration, before func(*http.Request) int) {
	w := newWorld(t)
	w.writer.timeout = 100 * time.Millisecond
	w.put(t, workloadJSON(provisioningJSON()), deploymentJSON(1, loadWriters, provisioningJSON()))
	w.stub.hook(before)
	w.instances.repair = func(ledger.Parent) {}

	// What each writer sends in turn, encoded once.
	requests := make([][2]admission.Request, loadWriters)
	for n := range requests {
		waiting, crashing := instanceJSON(n, 1, waitingJSON()), instanceJSON(n, 1, crashingJSON())
		requests[n] = [2]admission.Request{reviewOf(t, waiting, crashing), reviewOf(t, crashing, waiting)}
	}
	var wrong atomic.Int64
	round := func(each int) {
		var group sync.WaitGroup
		for n := range requests {
			group.Go(func() {
				for i := range each {
					ctx, cancel := context.WithTimeoutCause(t.Context(), budget, errBudget)
					response, _ := w.instances.review(ctx, requests[n][i%2])
					cancel()
					if !response.Allowed {
						wrong.Add(1)
					}
				}
			})
		}
		group.Wait()
	}
	round(2) // connections and caches
	goroutines, heap := usage()
	most := sample(t)
	round(reviews / loadWriters)
	peak := most()
	w.writer.close()
	_, after := usage()

	assert.Zero(t, wrong.Load(), "writes that were not allowed")
	assert.Less(t, peak-goroutines, loadWriters+loadWriters/2, "goroutines: the writers' own, and those of two lines and the connections they leave")
	assert.Less(t, int64(after)-int64(heap), int64(2<<20), "bytes of heap that stayed")
	assert.Equal(t, ledger.Sizes{Instances: loadWriters, Pending: loadWriters, Deployments: 1, Workloads: 1}, w.ledger.Sizes())
	assert.Empty(t, w.writer.lines)
	t.Logf("%d reviews: %d parent writes, at most %d goroutines, heap %+d KiB", reviews, w.stub.stored(), peak, (int64(after)-int64(heap))/1024)
}

// usage is what runs and what is reachable now.
func usage() (goroutines int, heap uint64) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), m.HeapAlloc
}

// sample looks at the number of goroutines until the function it returns is
// called, which answers the most there were.
func sample(t *testing.T) (most func() int) {
	t.Helper()
	done, peak := make(chan struct{}), make(chan int)
	go func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		n := 0
		for {
			select {
			case <-tick.C:
				n = max(n, runtime.NumGoroutine())
			case <-done:
				peak <- n
				return
			}
		}
	}()
	return func() int {
		close(done)
		return <-peak
	}
}
