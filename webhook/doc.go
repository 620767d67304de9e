// Package webhook refuses, at submit time, a container that adds a Linux
// capability its runtime class does not grant.
//
// # What it decides
//
// Every sandbox container of a Workload template, a WorkloadDeployment template
// or an Instance: each entry of securityContext.capabilities.add must be listed,
// by its exact name, in the grantableCapabilities of the runtime class, and the
// class must have the feature containerCapabilities. An entry of drop is never
// refused and never excuses an entry of add.
//
// What the stored object already adds may stay (ratchet), and what the owner
// adds may be copied to its children, so that tightening a class freezes
// nothing and breaks no roll-out; both are answered with a warning.
//
// # What it reads
//
// RuntimeClasses, from a cache; before a refusal also live, by one read that
// all reviews share. The owner of a refused WorkloadDeployment or Instance,
// live. It writes nothing, so a dry run is answered like any other request.
//
// # When in doubt
//
// A Workload is refused and its author told what to do; a WorkloadDeployment or
// an Instance is only warned, since it was judged as a Workload before and the
// provider judges it again.
//
// # Layout
//
// Validate is the pure entry: no client, clock or logger, and as usable on a
// stored object as on a request. Each rule has a file of its own (rule_*.go).
// New builds the three HTTP endpoints around it.
package webhook
