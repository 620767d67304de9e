package pairs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
)

func TestRatioIsTakenWithinPairs(t *testing.T) {
	// A machine that gets ten times slower after the second pair.
	s := pairs.Series{{Base: 100, Other: 90}, {Base: 110, Other: 99}, {Base: 10, Other: 9}, {Base: 11, Other: 9.9}, {Base: 10, Other: 20}}
	assert.Equal(t, pairs.Quartiles{Lower: 0.9, Median: 0.9, Upper: 0.9}, s.Ratio())
	assert.Equal(t, pairs.Quartiles{Lower: 10, Median: 11, Upper: 100}, s.Base())
	assert.Equal(t, pairs.Quartiles{Lower: 9.9, Median: 20, Upper: 90}, s.Other())
}

func TestOfTakesOneNumber(t *testing.T) {
	type half struct{ throughput, p99 float64 }
	taken := []pairs.Pair[half]{{Base: half{10, 1}, Other: half{20, 3}}}
	assert.Equal(t, pairs.Series{{Base: 1, Other: 3}}, pairs.Of(taken, func(h half) float64 { return h.p99 }))
}

func TestQuartiles(t *testing.T) {
	for name, tc := range map[string]struct {
		values []float64
		want   pairs.Quartiles
	}{
		"one value is all three":         {[]float64{4}, pairs.Quartiles{Lower: 4, Median: 4, Upper: 4}},
		"between two it is interpolated": {[]float64{2, 1}, pairs.Quartiles{Lower: 1.25, Median: 1.5, Upper: 1.75}},
		"five values have their own":     {[]float64{5, 1, 4, 2, 3}, pairs.Quartiles{Lower: 2, Median: 3, Upper: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			before := append([]float64(nil), tc.values...)
			assert.Equal(t, tc.want, pairs.QuartilesOf(tc.values))
			assert.Equal(t, before, tc.values, "the values keep their order")
			assert.Equal(t, tc.want.Median, pairs.Quantile(tc.values, 0.5))
		})
	}
	assert.Equal(t, 5.0, pairs.Quantile([]float64{5, 1}, 1))
}
