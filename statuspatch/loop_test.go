package statuspatch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/causeway-webhook/causeway/statuspatch/ledger"
)

// A repair that somebody undoes at once is spaced out; a new one is not.
func TestRepairsThatAreUndoneAreSpacedOut(t *testing.T) {
	var r repairs
	p := ledger.Parent{Kind: ledger.KindWorkload, Namespace: "shop", Name: "api", UID: "u"}
	now := time.Unix(0, 0)

	made := 0
	for end := now.Add(time.Minute); now.Before(end); {
		if wait := r.pause(p, "down", now); wait > 0 {
			now = now.Add(wait)
			continue
		}
		made++
		assert.Equal(t, made > 1, r.made(p, "down", now), "undone")
	}
	assert.LessOrEqual(t, made, 8, "repairs in a minute of being undone at once")

	assert.Zero(t, r.pause(p, "up", now), "another repair waits for none")
	assert.False(t, r.made(p, "up", now))

	r.made(p, "down", now)
	now = now.Add(time.Hour)
	assert.False(t, r.made(p, "down", now), "what held for an hour was not undone")

	r.forget(p)
	assert.Zero(t, r.pause(p, "down", now))
	assert.Empty(t, r.last)
}
