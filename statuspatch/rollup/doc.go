// Package rollup computes the Available condition of a WorkloadDeployment, of a
// Workload and of each of its placements from the conditions of Instances. It
// is pure: no client, clock or logger.
package rollup
