// Package pairs compares two things by many short measurements, one of each at a
// time and in alternating order, so that what a machine does meanwhile meets
// both alike. What counts is the median of the ratios within the pairs.
//
// It decides how ratios are summed up and whether a bar is met. It reads no
// clock and writes nothing: what a half of a pair is and how it is measured is
// its caller's business.
package pairs
