// Package monitoring judges deploy/components/monitoring: that Prometheus takes
// the rules, that each alert fires when it should and only then, that every
// metric and label they and the dashboard name is shown by real processes or by
// the API server, and that docs/operating.md says what to do about each alert.
//
// It reads the manifests and docs; it writes nothing. The folder picture draws
// the dashboard for the docs.
//
// It is a module of its own: Prometheus brings the clients of many clouds, which
// nothing else here should depend on.
package monitoring
