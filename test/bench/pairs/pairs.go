package pairs

import (
	"context"
	"fmt"
)

// Pair holds what was measured of the baseline and, directly before or after it,
// of what is compared with it.
type Pair[T any] struct{ Base, Other T }

// Comparison is a baseline and what is compared with it; each call measures one
// half of a pair. An A/A comparison is a baseline and the same thing once more.
type Comparison[T any] struct {
	Base, Other func(context.Context) (T, error)
}

// Take measures so many pairs of each comparison and returns them by comparison.
// The comparisons take turns, pair by pair. In every second pair the other half
// comes first, so that neither always follows the other.
func Take[T any](ctx context.Context, count int, comparisons ...Comparison[T]) ([][]Pair[T], error) {
	taken := make([][]Pair[T], len(comparisons))
	for n := range count {
		for i, c := range comparisons {
			p, err := take(ctx, c, n%2 == 1)
			if err != nil {
				return nil, fmt.Errorf("pair %d of %d: %w", n+1, count, err)
			}
			taken[i] = append(taken[i], p)
		}
	}
	return taken, nil
}

func take[T any](ctx context.Context, c Comparison[T], otherFirst bool) (p Pair[T], err error) {
	halves := []struct {
		measure func(context.Context) (T, error)
		into    *T
	}{{c.Base, &p.Base}, {c.Other, &p.Other}}
	if otherFirst {
		halves[0], halves[1] = halves[1], halves[0]
	}
	for _, half := range halves {
		if err := ctx.Err(); err != nil {
			return p, context.Cause(ctx)
		}
		if *half.into, err = half.measure(ctx); err != nil {
			return p, err
		}
	}
	return p, nil
}
