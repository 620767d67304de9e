// Package computeapi has the Go types of compute.datumapis.com/v1alpha as the
// platform's own writers see them: whole objects, so that a full update by
// these types sends back everything their CRDs know.
//
// Only tests and the demo use it. Causeway itself decodes no more than it
// reads and never sends an object back, so it must not import these types.
//
// The build* files make minimal valid objects that a test tweaks.
//
// After a change to the types, run in the folder above:
//
//	go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.21.0 object paths=./computeapi
//
// +kubebuilder:object:generate=true
package computeapi
