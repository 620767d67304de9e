// Command kubectl-why is the kubectl plugin `kubectl why`: it says why a
// Workload is not running, or that it is.
//
//	kubectl why api -n shop
//	kubectl why -A
//	kubectl why workload/api --watch
//
// It reads Workloads, WorkloadDeployments and Instances and judges them by the
// same code as `causeway statuspatch`, so it works beside Causeway and without
// it. It writes nothing. It ends with 0 if all it was asked for is ready, with
// 1 if something fails or is not ready yet, and with 2 if it was called wrongly
// or could not read.
//
//	main.go       signals, exit code, and being called to complete
//	command.go    the command and its flags
//	completion.go what the shell is offered
//	names.go      which Workloads are asked for
//	objects.go    the API's objects, cut down to what is read
//	source.go     the API server: paged lists
//	progress.go   what a terminal shows while a long list is read
//	watch.go      --watch
//	output.go     text, JSON and YAML
//
// Packages tree and text below it are pure: what there is to say, and how it
// reads.
package main
