// Package traffic keeps a Causeway installation busy while a test changes its
// certificates, and counts what was asked and what went wrong.
//
// Three clients run: one creates Workloads, of which every second must be
// refused; one writes an Instance's status and reads at once from the Workload
// what it wrote; one shakes hands anew twenty times a second, trusting what the
// webhook configuration says at that moment, since the API server keeps its
// connections and would hide a fault. A webhook that could not be called is seen
// by the first as an error, and by the second as a Workload that does not know.
package traffic
