// Package statuspatch carries the reason why an Instance does not run up to its
// WorkloadDeployment and Workload.
//
// It decides what the condition Available of both parents, of a Workload's
// placements, and a deployment's ReplicasReady say, and where it is asked for,
// Degraded of both parents. It reads Instances, WorkloadDeployments and Workloads
// by watch, by review and, where doubt must be settled, live. It writes those conditions and nothing else, by JSON Patch of
// the version it read, one EndpointSlice, one Lease, and Events on both parents.
// Where it observes Pods it writes one condition of an Instance besides: Available,
// if the Pod proves it false, and to take that back. It never refuses a write, and
// never sends back what it did not decode whole.
//
// Three ways lead to one pure function (package rollup) over one store (package
// ledger):
//
//   - instances: the status webhook on instances/status writes both parents
//     before the Instance's own write returns;
//   - overlay: the status webhooks of the parents correct what others are about
//     to store;
//   - loop: whatever a request could not do, or was never told of, is repaired.
//
// With Options.ObservePods the truth may begin at a Pod: package podstate judges
// it, package podstore holds what it takes, and pods patches the Instance, which
// goes the first way like any other write of one. A mutating webhook keeps a
// provider from taking it back.
//
// An announcer tells of reasons once they are stored and nothing about them is
// in doubt any more.
//
// # One writer
//
// One process is active: it holds the Lease and is the one that answers. The
// others keep their ledger warm and allow what they are asked. A process that
// finds its lease older than 2 s writes nothing; one that was stopped in the
// middle of a write conflicts with whoever wrote since, for every patch carries
// the resourceVersion it was computed from.
//
// # Concurrency
//
// Packages ledger and podstore have one mutex each, writer another, shell.inflight and election one
// each. None is held while another is taken, nor across I/O, so there is no
// order to keep and no cycle to close. The loop's queue and the settling queue
// are client-go work queues. Goroutines: one for each watch, one for each parent
// with a write under way and one more where the loop waits for a slow one, a
// fixed number of workers, and the election's. A review waits in its own
// goroutine, bounded by its budget; nobody waits for a review.
//
// A slow parent delays no other. Each parent's writes have a line of their own,
// and nothing is shared between two lines but the two mutexes above. A worker of
// the loop begins a repair and waits for its end for 200 ms at most; after that
// the repair ends in a goroutine of its own and the worker takes the next parent.
// The queue hands a parent out again only once its repair has ended, and every
// repair ends, for each write has a deadline of its own, 3 s. A write that hung is
// tried again behind those that were waiting meanwhile. At most 64 repairs are
// under way, so that they cannot bury an API server that is slow for everybody;
// where as many parents as that hang, the others wait for the deadline.
package statuspatch
