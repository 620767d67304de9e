// Package ledger holds what the status path knows: one entry for each Instance
// and, kept up to date with every change, the tally of each deployment, so that
// an update costs the same for ten siblings as for ten thousand.
//
// It decides nothing and writes nothing. It is told what the watch delivers,
// what a request is about to store (a pending entry) and what the API server
// answered, and it hands out snapshots to the roll-up.
//
// # Pending entries
//
// A status review speaks of a write that is not stored yet. Its contribution is
// pending: it stands in for the stored Instance until some version newer than
// the one the review was based on is seen, be it this write or one that beat
// it. A write that is never stored (a later webhook refused it) leaves a ghost;
// whoever proposed it reads the Instance live after a while and settles it.
//
// # Keys
//
// Parents are told apart by UID: an Instance whose owner reference names a
// former deployment of the same name counts for that one, never for its
// successor.
//
// # Locking
//
// One mutex guards everything. It is held for map and tree operations only,
// never across I/O or a call out of the package, so that no holder can wait for
// another lock: Notify is called after it is released. Versions of Instances and
// parents are immutable once they are handed in: the ledger keeps them as they
// are, and snapshots share them.
//
// # Memory
//
// One entry for each Instance and parent that exists, nothing for those that
// are gone: the entry goes with the last of its watch state, its pending state
// and the Instances that name it. An Instance is kept once, by pointer: the
// tallies hold on to the version that counts and to no older one.
package ledger
