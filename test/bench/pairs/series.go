package pairs

import "slices"

// Series is one number of each half, pair by pair.
type Series []Pair[float64]

// Of takes one number out of what was measured.
func Of[T any](taken []Pair[T], number func(T) float64) Series {
	s := make(Series, len(taken))
	for i, p := range taken {
		s[i] = Pair[float64]{Base: number(p.Base), Other: number(p.Other)}
	}
	return s
}

// Base sums up the baseline's halves.
func (s Series) Base() Quartiles { return s.sumUp(func(p Pair[float64]) float64 { return p.Base }) }

// Other sums up the halves of what is compared.
func (s Series) Other() Quartiles { return s.sumUp(func(p Pair[float64]) float64 { return p.Other }) }

// Ratio sums up other/base within each pair.
func (s Series) Ratio() Quartiles {
	return s.sumUp(func(p Pair[float64]) float64 { return p.Other / p.Base })
}

func (s Series) sumUp(number func(Pair[float64]) float64) Quartiles {
	values := make([]float64, len(s))
	for i, p := range s {
		values[i] = number(p)
	}
	return QuartilesOf(values)
}

// Quartiles are a median and what half of the values lie between.
type Quartiles struct{ Lower, Median, Upper float64 }

// QuartilesOf sorts a copy of the values and interpolates between neighbours. It
// panics without values.
func QuartilesOf(values []float64) Quartiles {
	sorted := slices.Sorted(slices.Values(values))
	return Quartiles{Lower: quantile(sorted, 0.25), Median: quantile(sorted, 0.5), Upper: quantile(sorted, 0.75)}
}

// Quantile is the value below which that share, from 0 to 1, of the values lie.
// It panics without values.
func Quantile(values []float64, share float64) float64 {
	return quantile(slices.Sorted(slices.Values(values)), share)
}

func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}
