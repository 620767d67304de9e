package statuspatch

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A review that changes nothing is what nearly every status write costs, so what
// it allocates is bounded: the strings and lists that the decoder makes of two
// objects, which is all but a few. The bound is a quarter above what was
// measured with the race detector, whose pools forget.
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
	// A third object would be thirty; what pools forget differs by some five.
	assert.InDelta(t, decoding, reviewing, 10, "beyond the two objects there is the answer")
	assert.LessOrEqual(t, reviewing, 100.0)
}

// Every write of anybody comes by as an event, too; bounded likewise.
func TestAnEventAllocatesWhatIsReadOfItsObject(t *testing.T) {
	events := watchEvents(t, `{"type":"MODIFIED","object":`+fullObjects["Instance"]+`}`)
	decoding := testing.AllocsPerRun(100, func() {
		if _, _, err := events.Decode(); err != nil {
			t.Error(err)
		}
	})
	assert.LessOrEqual(t, decoding, 78.0)
}

// Of these some twenty are the test's own.
func TestServingAReviewAllocatesLittle(t *testing.T) {
	h, body := servedReview(t)
	serving := testing.AllocsPerRun(100, func() {
		if answer := served(h, body); answer.Code != http.StatusOK {
			t.Error(answer.Body)
		}
	})
	assert.LessOrEqual(t, serving, 85.0)
}
