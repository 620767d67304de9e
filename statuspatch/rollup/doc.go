// Package rollup computes the Available condition of a WorkloadDeployment, of a
// Workload and of each of its placements from the conditions of Instances.
//
// ReadInstance tells what one Instance adds; a Tally is the sum over those of a
// deployment; DeploymentAvailable, DeploymentReplicasReady and
// WorkloadAvailable are the verdicts; Settle makes a condition of a verdict.
//
// What the children cannot tell is said by the parent's own controller, in the
// very condition that is to be written: its base. Whether a stored condition is
// a base or Causeway's own earlier sentence is decided by the grammar: Parse
// reads back every message that is written here. A base competes with the
// failures of the children in the order of package reason; a ready Instance
// silences all of them, save a Workload's NetworkNotFound.
//
// The package is pure: no client, clock or logger. Results depend neither on
// the order of lists nor on that of maps, judging a result again gives the same
// result, and whatever comes in, what goes out is a condition that the API
// server accepts. It never changes its arguments.
package rollup
