package pairs_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
)

// recorder notes in which order halves are measured.
type recorder struct{ order string }

func (r *recorder) half(name string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		r.order += name
		return name, nil
	}
}

func TestTakeAlternatesTheOrderWithinPairsAndTheComparisons(t *testing.T) {
	var r recorder
	taken, err := pairs.Take(t.Context(), 3,
		pairs.Comparison[string]{Base: r.half("A"), Other: r.half("a")},
		pairs.Comparison[string]{Base: r.half("A"), Other: r.half("B")})
	require.NoError(t, err)
	assert.Equal(t, "AaAB"+"aABA"+"AaAB", r.order)
	aa, ab := pairs.Pair[string]{Base: "A", Other: "a"}, pairs.Pair[string]{Base: "A", Other: "B"}
	assert.Equal(t, [][]pairs.Pair[string]{{aa, aa, aa}, {ab, ab, ab}}, taken)
}

func TestTakeSaysWhichPairFailed(t *testing.T) {
	var r recorder
	calls := 0
	fails := func(context.Context) (string, error) {
		if calls++; calls == 2 {
			return "", errors.New("no answer")
		}
		return "B", nil
	}
	_, err := pairs.Take(t.Context(), 3, pairs.Comparison[string]{Base: r.half("A"), Other: fails})
	assert.EqualError(t, err, "pair 2 of 3: no answer")
	assert.Equal(t, "A", r.order, "nothing is measured after a failure")
}

func TestTakeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	var r recorder
	_, err := pairs.Take(ctx, 1, pairs.Comparison[string]{Base: r.half("A"), Other: r.half("B")})
	assert.EqualError(t, err, "pair 1 of 1: interrupted")
	assert.Empty(t, r.order)
}
