package deploy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// tellsAgain has an Instance crash and recover in turn, until an event that was
// written before is counted up instead of written anew.
func tellsAgain(t *testing.T, f *family, audit auditLog, user string) {
	written := func(verbs ...string) (n int) {
		for _, e := range audit.of(t, user) {
			for _, verb := range verbs {
				if e.ObjectRef.Resource == "events" && e.Verb == verb {
					n++
				}
			}
		}
		return n
	}
	for turn := 0; written("patch") == 0; turn++ {
		require.Less(t, turn, 6, "three times each, and none was counted up")
		before := written("create", "patch")
		if turn%2 == 0 {
			require.NoError(t, f.crash(t.Context(), "Once more."))
		} else {
			require.NoError(t, f.recovers(t.Context()))
		}
		waitUntil(t, "an event to be written", func() (bool, string) {
			return written("create", "patch") > before, "none"
		})
	}
}
