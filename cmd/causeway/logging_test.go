package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"
)

// controller-runtime, which is told too, takes its logger only once in a process.
func TestLibrariesLogThroughOneLogger(t *testing.T) {
	var out bytes.Buffer
	logger := newLogger(&out, logJSON, 1)
	logEverywhere(logger, 1)
	t.Cleanup(klog.ClearLogger)

	logger.Info("State changed", "port", 1)
	logger.V(1).Info("Told")
	logger.V(2).Info("Not told")
	logger.Error(errors.New("cause"), "Failed")
	klog.Background().Info("From client-go")
	klog.V(1).Info("From client-go, told")
	klog.V(2).Info("From client-go, not told")

	var got [][3]string
	for _, line := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
		var l struct{ Level, Logger, Msg string }
		require.NoError(t, json.Unmarshal(line, &l), string(line))
		got = append(got, [3]string{l.Level, l.Logger, l.Msg})
	}
	assert.Equal(t, [][3]string{
		{"info", "", "State changed"},
		{"debug", "", "Told"},
		{"error", "", "Failed"},
		{"info", "client", "From client-go"},
		{"debug", "client", "From client-go, told"},
	}, got)
}

func TestTextLogsAreForPeople(t *testing.T) {
	var out bytes.Buffer
	newLogger(&out, logText, 0).WithName("webhook").Info("Serving", "server", "reviews")
	assert.Regexp(t, `^\S+\tINFO\twebhook\t\S+\tServing\t\{"server": "reviews"\}\n$`, out.String())
}
