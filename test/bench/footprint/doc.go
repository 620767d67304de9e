// Package footprint measures how much memory both processes of Causeway take
// beside many Instances: after their caches have synced, and after a time of
// churn. It runs a control plane of its own; creating the objects is what takes
// long.
//
// What it says is what the processes themselves expose. It keeps nothing.
package footprint
