package pairs

import (
	"math"
	"strconv"
)

// Bar is what a number has to reach, or not to exceed. The zero Bar asks nothing.
type Bar struct {
	kind  barKind
	value float64
}

type barKind int

const (
	noBar barKind = iota
	atLeast
	atMost
)

// AtLeast is a bar that a number has to reach.
func AtLeast(value float64) Bar { return Bar{atLeast, value} }

// AtMost is a bar that a number may not exceed.
func AtMost(value float64) Bar { return Bar{atMost, value} }

// Value is the number that is asked for; ok is false where nothing is asked.
func (b Bar) Value() (value float64, ok bool) { return b.value, b.kind != noBar }

// String is the bar as people write it, such as ">= 0.95", or nothing.
func (b Bar) String() string {
	sign := map[barKind]string{atLeast: ">= ", atMost: "<= "}[b.kind]
	if sign == "" {
		return ""
	}
	decimals := 2 // as ratios are printed beside it
	if b.value == math.Trunc(b.value) {
		decimals = 0
	}
	return sign + strconv.FormatFloat(b.value, 'f', decimals, 64)
}

// Verdict tells whether a bar is met.
type Verdict string

const (
	// Unjudged is the verdict where nothing is asked.
	Unjudged Verdict = ""
	// Met is the verdict on a number that reaches its bar.
	Met Verdict = "met"
	// WithinNoise is the verdict on a ratio that misses its bar by no more than the
	// baseline, measured against itself, misses 1.
	WithinNoise Verdict = "within noise"
	// Missed is the verdict on all else.
	Missed Verdict = "MISSED"
)

// Judge tells whether a number that has no noise of its own, such as a count,
// meets the bar.
func (b Bar) Judge(value float64) Verdict { return b.judge(value, 0) }

// JudgeRatio tells whether the median ratio of a series meets the bar. aa is the
// baseline against itself.
func (b Bar) JudgeRatio(s, aa Series) Verdict {
	return b.judge(s.Ratio().Median, math.Abs(aa.Ratio().Median-1))
}

func (b Bar) judge(value, noise float64) Verdict {
	var missedBy float64
	switch b.kind {
	case atLeast:
		missedBy = b.value - value
	case atMost:
		missedBy = value - b.value
	default:
		return Unjudged
	}
	switch {
	case missedBy <= 0:
		return Met
	case missedBy <= noise:
		return WithinNoise
	default: // NaN too
		return Missed
	}
}
