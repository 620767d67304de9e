// Package controlplane runs a real Kubernetes control plane for tests and for
// the demo: one etcd and one kube-apiserver on loopback, and nothing else. No
// controller manager, scheduler or kubelet runs, so nothing collects garbage,
// empties a deleted namespace or starts a Pod.
//
// Both programs are built from their Go modules, pinned in test/apiserver, by
// the ordinary go command and kept by version in the user's cache directory;
// see [EnsureBinaries], and [VersionEnv] for an older API server. [Start] runs them; [ControlPlane.Stop] ends them.
//
// Nobody is in system:masters here, the installer included: it is an ordinary
// user to whom an ABAC policy grants everything, so RBAC, flow control and
// admission treat its requests as they would a customer's. All others get what
// RBAC objects grant them.
package controlplane
