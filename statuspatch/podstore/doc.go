// Package podstore holds what is needed to judge an Instance by its Pod: the
// Pods that back an Instance, cut down to what package podstate reads, with the
// memory of each, and the condition Available of each Instance.
//
// A Pod backs the Instance of its own name and namespace that is its controller
// owner; the UID of the owner reference decides, never the name alone. All other
// Pods are forgotten as they come. So the store holds at most one Pod for each
// Instance, and a memory lives as long as its Pod.
//
// The store decides nothing itself and writes nothing: Judge and Decide put its
// contents into the functions of package podstate. It has one mutex, held for map
// operations and those pure functions only; whoever is told of a change is called
// without it.
package podstore
