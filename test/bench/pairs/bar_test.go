package pairs_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/causeway-webhook/causeway/test/bench/pairs"
)

func ratio(r float64) pairs.Series { return pairs.Series{{Base: 1, Other: r}} }

func TestJudgeRatio(t *testing.T) {
	for name, tc := range map[string]struct {
		bar       pairs.Bar
		ratio, aa float64
		want      pairs.Verdict
	}{
		"reached":                                {pairs.AtLeast(0.75), 0.75, 1, pairs.Met},
		"missed":                                 {pairs.AtLeast(0.75), 0.5, 1, pairs.Missed},
		"missed by less than the noise":          {pairs.AtLeast(0.75), 0.5, 1.5, pairs.WithinNoise},
		"missed by as much as the noise":         {pairs.AtLeast(0.75), 0.5, 0.75, pairs.WithinNoise},
		"missed by more than the noise":          {pairs.AtLeast(0.75), 0.25, 0.75, pairs.Missed},
		"not exceeded":                           {pairs.AtMost(1.5), 1.25, 1, pairs.Met},
		"exceeded":                               {pairs.AtMost(1.5), 2, 1.25, pairs.Missed},
		"exceeded by less than the noise":        {pairs.AtMost(1.5), 2, 0.25, pairs.WithinNoise},
		"nothing is asked":                       {pairs.Bar{}, 17, 1, pairs.Unjudged},
		"what is no number meets no bar":         {pairs.AtMost(1), math.NaN(), 1, pairs.Missed},
		"nor does the baseline excuse it if not": {pairs.AtLeast(1), 0.5, math.NaN(), pairs.Missed},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, tc.bar.JudgeRatio(ratio(tc.ratio), ratio(tc.aa)))
		})
	}
}

func TestJudgeKnowsNoNoise(t *testing.T) {
	assert.Equal(t, pairs.Met, pairs.AtMost(0).Judge(0))
	assert.Equal(t, pairs.Missed, pairs.AtMost(0).Judge(1))
}

func TestBarAsText(t *testing.T) {
	for want, bar := range map[string]pairs.Bar{
		">= 0.95": pairs.AtLeast(0.95), "<= 1.50": pairs.AtMost(1.5), "<= 0": pairs.AtMost(0), ">= 640": pairs.AtLeast(640), "": {},
	} {
		assert.Equal(t, want, bar.String())
	}
	value, ok := pairs.AtMost(0).Value()
	assert.True(t, ok)
	assert.Zero(t, value)
	_, ok = pairs.Bar{}.Value()
	assert.False(t, ok)
}
