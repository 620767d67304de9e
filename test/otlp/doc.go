// Package otlp is a collector of OpenTelemetry traces inside the test's own
// process: it takes what is sent to it by OTLP over gRPC, as a collector in
// production does, and answers with trees of what it got. It keeps everything
// until it ends and forwards nothing.
package otlp
