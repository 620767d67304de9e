// Package platform is a stand-in for the compute platform: the writers beside
// which Causeway has to live, imitated closely enough that what holds here
// holds there. It runs in the test's process against a real API server, each
// writer as an ordinary user of its own with a field manager of its own.
//
// Comments name the section of the compute API reference that is imitated.
//
//	workload controller    makes deployments; Workload status (section 5)
//	deployment controller  makes Instances; deployment status (section 4)
//	instance controller    quota, gates, Ready (section 3.3)
//	provider               Programmed and Available (section 6)
//	federator              RuntimeClassNotServed (section 3.1)
//	data resolver          ReferencedDataReady of a deployment (section 3.1)
//	status syncer          whole statuses from another plane (section 3.1)
//	garbage collector      there is no controller manager to do it
//
// The writers are rude where the real ones are rude: statuses are read from a
// cache and sent back whole, answers are lossy, and the workload controller
// writes on every pass.
//
// What the real platform learns from elsewhere (locations, networks, quota,
// referenced data, the state of a Pod) a test sets by the methods of Platform
// and Provider.
//
// All writers share one plane, so a deployment is its own copy in the cell.
// Left out: networks and Pods as objects, status.networkInterfaces, Events,
// autoscaling, the projection of Instances as a running controller, and the
// platform's finalizers.
package platform
