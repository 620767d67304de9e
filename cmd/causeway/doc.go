// Command causeway tells the customers of a compute platform the truth about their workloads.
//
// It has two sub-commands that are processes of their own, and one that prints and ends:
//
//	causeway webhook       refuses capabilities that a container's runtime class does not grant
//	causeway statuspatch   carries the reason of a failing Instance up to its Workload
//	causeway audit         lists what is stored and would be refused today
//
// This package alone reads flags, the environment and signals, and alone ends the process. It decides nothing about
// workloads: it builds what the packages webhook, statuspatch and certs need, serves them, and stops them in an order in
// which no review is refused.
//
//	main.go              signals, exit code
//	command.go           the command tree and its --help
//	options*.go          flags, their defaults and their rules
//	run_webhook.go       wiring of `causeway webhook`
//	run_statuspatch.go   wiring of `causeway statuspatch`
//	audit*.go            `causeway audit`
//	start.go             what both need before they serve
//	lifecycle.go         start, serve, drain: the same for both
//	server.go            the HTTPS server that the API server calls
//	probes.go            /healthz, /readyz, /activez
//	apiserver.go         kubeconfig, and the first words with the API server
//	logging.go           one logger for everything
//	version.go           what --version prints
package main
