package statuspatch

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A review that changes nothing is what nearly every status write costs, so what
// it allocates is bounded: the strings, maps and lists that the decoder makes of
// two objects, which is all but a few. The bound has room for another version of
// the decoder, and none for a third object.
func TestAReviewThatChangesNothingAllocatesItsTwoObjectsOnly(t *testing.T) {
	h, req, ctx := &instances{}, unchangedReview(), context.Background()
	decoding := testing.AllocsPerRun(100, func() {
		for range 2 {
			if _, err := decodeInstance(req.Object.Raw); err != nil {
				t.Error(err)
			}
		}
	})
	reviewing := testing.AllocsPerRun(100, func() { h.review(ctx, req) })
	assert.InDelta(t, decoding, reviewing, 4, "beyond the two objects there is the answer")
	assert.LessOrEqual(t, reviewing, 250.0)
}
