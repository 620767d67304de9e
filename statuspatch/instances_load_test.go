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
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

const (
	loadReviews = 100_000
	loadWriters = 100
	// loadInstances are those of one deployment, each writer's ten.
	loadInstances = 10 * loadWriters

	// loadOthers is how many goroutines there may be beside those of the writers
	// and those that were there before: up to six requests are under way, those of
	// two lines of writes and of four reads that settle what stays pending, each
	// over a connection of four goroutines while another such may be ending; and
	// two lines, two repairs that nobody waits for, and a few that are just ending.
	loadOthers = 6*2*4 + 2 + 2 + 12
	// loadGrowth is how many bytes for each Instance the heap may have grown by
	// between the first and the last tenth: less than the 600 that the ledger keeps
	// of one. What is tried again has an entry in a queue and in its limiter, which
	// fill only after 3 s; six bytes left behind by each review would show.
	loadGrowth = 500
)

// A hundred thousand reviews that each change the roll-up, by a hundred writers
// who write as fast as they can: neither goroutines nor memory grow, whether the
// API server stores, is not there, fails, or hangs until the budget is spent.
func TestAHundredThousandReviewsLeaveNothingBehind(t *testing.T) {
	for name, tc := range map[string]struct {
		reviews int
		budget  time.Duration
		prepare func(*stub)
		// timers tells that each writer's budget runs out, at which a goroutine
		// ends its review.
		timers bool
	}{
		"stored":                 {reviews: loadReviews, budget: DefaultBudget, prepare: func(*stub) {}},
		"the API server is away": {reviews: loadReviews, budget: DefaultBudget, prepare: (*stub).leave},
		"the API server fails":   {reviews: loadReviews / 5, budget: DefaultBudget, prepare: func(s *stub) { s.hook(fails) }},
		"the API server hangs": {
			// Each review waits its budget out, which has to be short for so many.
			reviews: loadReviews / 5, budget: time.Millisecond, prepare: func(s *stub) { s.hook(hangs) }, timers: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			most := loadWriters + loadOthers
			if tc.timers {
				most += loadWriters
			}
			testLoad(t, tc.reviews, tc.budget, tc.prepare, most, name == "stored")
		})
	}
}

func fails(*http.Request) int { return http.StatusServiceUnavailable }

func hangs(r *http.Request) int {
	<-r.Context().Done()
	return http.StatusGatewayTimeout
}

func testLoad(t *testing.T, reviews int, budget time.Duration, prepare func(*stub), most int, stores bool) {
	w := newWorld(t)
	if budget < DefaultBudget {
		w.writer.timeout = 100 * budget
	}
	w.put(t, workloadJSON(provisioningJSON()), deploymentJSON(1, loadInstances, provisioningJSON()))
	// The loop and the settling of what stays pending work as they do in a process.
	loop := w.startLoop(t)
	w.instances.repair = loop.add
	w.startSettler(t)

	// What is sent about each Instance in turn, encoded once.
	requests := make([][2]admission.Request, loadInstances)
	for n := range requests {
		waiting, crashing := instanceJSON(n, 1, waitingJSON()), instanceJSON(n, 1, crashingJSON())
		w.put(t, waiting)
		crashing["metadata"] = waiting["metadata"]
		requests[n] = [2]admission.Request{reviewOf(t, waiting, crashing), reviewOf(t, crashing, waiting)}
	}
	var wrong atomic.Int64
	// round has each writer send so many reviews about its Instances, an even
	// number about each, and tells how many goroutines there were at most.
	round := func(each int) (peak int) {
		var group sync.WaitGroup
		peaked := sample(t)
		for n := range loadWriters {
			group.Go(func() {
				for i := range each {
					ctx, cancel := context.WithTimeoutCause(t.Context(), budget, errBudget)
					response, outcome := w.instances.review(ctx, requests[10*n+i%10][i/10%2])
					cancel()
					if !response.Allowed || outcome == outcomeUnchanged {
						wrong.Add(1)
					}
				}
			})
		}
		group.Wait()
		return peaked()
	}
	prepare(w.stub)
	tenth := reviews / loadWriters / 10
	before, _ := usage()
	round(tenth)
	_, first := usage()
	peak := round(9 * tenth)
	_, last := usage()
	runtime.KeepAlive(requests)
	grown := (int64(last) - int64(first)) / loadInstances

	assert.Zero(t, wrong.Load(), "writes that were not allowed, or changed nothing")
	assert.LessOrEqual(t, peak-before, most, "goroutines")
	assert.LessOrEqual(t, grown, int64(loadGrowth), "bytes of heap for each Instance, between the first tenth of the reviews and the last")
	sizes := w.ledger.Sizes()
	assert.LessOrEqual(t, sizes.Pending, loadInstances)
	sizes.Pending = 0
	assert.Equal(t, ledger.Sizes{Instances: loadInstances, Deployments: 1, Workloads: 1}, sizes)
	w.writer.close()
	assert.Empty(t, w.writer.lines)
	assert.Equal(t, stores, w.stub.stored() > 0, "the parents were written")
	t.Logf("%d reviews: %d parent writes; goroutines: %d before, %d more at most; heap: %+d bytes an Instance", reviews, w.stub.stored(), before, peak-before, grown)
}

// startSettler runs the world's settling of pending contributions until the test
// ends.
func (w *world) startSettler(t *testing.T) {
	t.Helper()
	s := &settler{api: w.writer.api, ledger: w.ledger, metrics: w.metrics, now: time.Now, queue: newQueue[types.NamespacedName]("")}
	w.instances.settle = s.add
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
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
