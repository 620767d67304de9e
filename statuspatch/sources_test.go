package statuspatch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	clocktesting "k8s.io/utils/clock/testing"
)

// However long the API server is away, a watch is tried again within 2.4 s of it
// answering: the pauses grow up to that and no further, and they never end.
func TestPausesBetweenTriesOfAWatchStayShort(t *testing.T) {
	const (
		outage  = time.Hour
		longest = 2400 * time.Millisecond
		// clientReset is after how long client-go's reflector begins with short
		// pauses again.
		clientReset = 2 * time.Minute
	)
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	pause := watchBackoff().DelayWithReset(clock, clientReset)
	began := clock.Now()
	tries := 0
	for ; clock.Since(began) < outage; tries++ {
		next := pause()
		assert.Positive(t, next)
		assert.LessOrEqual(t, next, longest, "after %s", clock.Since(began))
		clock.Step(next)
	}
	assert.Less(t, tries, int(outage/(1500*time.Millisecond)), "tries, which must not become a burden")
}
