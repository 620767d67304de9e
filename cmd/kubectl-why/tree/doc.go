// Package tree explains Workloads: Build makes of what was read a tree from
// each Workload over its placements and deployments down to its Instances,
// with the cause first.
//
// The verdicts are those of package rollup, the very code by which `causeway
// statuspatch` writes statuses, over what the reader could see. So the answer
// is the same with and without Causeway; where the stored status says something
// else, the node holds that too. What could not be read is said, and the
// stored status stands in for it.
//
// The package is pure: no client, clock or terminal. The result depends
// neither on the order of lists nor on that of maps.
package tree
