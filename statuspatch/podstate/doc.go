// Package podstate tells from a Pod why an Instance does not run.
//
// Classify makes a Verdict of a Pod: whether the Instance is well, failing, or
// neither; for a failure the reason, how sure it is that it stays, the container
// that explains the others, and one sentence. Correct makes of a Verdict what the
// Instance's condition Available has to say, for a patch and for a mutating
// webhook alike. Observe keeps the little that one look at a Pod cannot tell. Lacks
// finds the containers that crash at start-up and lack capabilities.
//
// The order of evidence: the Pod's own phase, reason and conditions, then
// state.waiting, then state.terminated, and lastState only where those say
// nothing. A container that is running and ready is healthy whatever lastState
// says. What only the clock decides carries the moment to look again.
//
// Sentences name a container by its kind, say what happened and, where that is
// known, what to do. The words of applications, runtimes and nodes are data:
// cleaned, bounded, quoted, at the end, and never parsed for the verdict, save
// the runtime's and the registry's own error, which alone tells a hiccup from a
// mistake. Logs are never read.
//
// Of a Pod are read: metadata uid and deletionTimestamp; of spec the restart
// policy, activeDeadlineSeconds, resources.limits, and of each container the
// name, image, restart policy, memory limit and capabilities; of status phase, reason, message,
// conditions and the statuses of containers and init containers. A cache may drop
// everything else. Ephemeral containers are nobody's workload and are ignored.
//
// The package is pure: no client, clock or logger. It changes no argument, and
// whatever the Pod says, what comes out is one line of valid UTF-8 of at most
// 1,024 bytes that the roll-up takes over unchanged.
package podstate
