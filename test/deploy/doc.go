// Package deploy tries the manifests of deploy/ on a real API server: that it takes them without a warning, that its match
// conditions call Causeway when they should and never else, that the optional policy keeps a reason, and that Causeway's
// account may do what it must and no more.
//
// Nobody here is Causeway: its place is taken by a server that notes what it was asked.
package deploy
