// Package crds holds the kinds of compute.datumapis.com/v1alpha for planes that
// have no platform to bring them: tests and the demo.
//
// They are written by hand from the reference of the API and true in what
// Causeway meets: subresources, required counts, which lists are atomic, what a
// new Instance is stamped with, printer columns, pruning, and the rules of a
// RuntimeClass. Where the reference does not spell a part out, that part is
// kept as it comes.
package crds
