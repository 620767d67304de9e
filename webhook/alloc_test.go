package webhook

import (
	"bytes"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A review that is allowed by what the cache holds is nearly every review, from
// the bytes read to the bytes written. Most of what it allocates is the decoder's:
// the review, then the object inside it; the test's own request and recorder are
// some twenty. The bound, a quarter above what was measured with the
// race detector, whose pools forget, is there so that
// nobody makes it twice as dear unawares.
func TestAnAllowedReviewAllocatesLittle(t *testing.T) {
	h := hook(t, workloads, &reader{classes: stored(published())})
	body := review(t, workloads, "u", object(t, "Workload", "shop", runtimeOf("general-purpose", ctr("app", "CHOWN", "KILL"))))
	got := testing.AllocsPerRun(100, func() {
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, post(bytes.NewReader(body)))
		if !bytes.Contains(answer.Body.Bytes(), []byte(`"allowed":true`)) {
			t.Error(answer.Body)
		}
	})
	assert.LessOrEqual(t, got, 112.0)
}
