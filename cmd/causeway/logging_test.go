package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
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

// messages are those of JSON log lines.
func messages(t *testing.T, log []byte) []string {
	t.Helper()
	var all []string
	for _, line := range bytes.Split(bytes.TrimSpace(log), []byte("\n")) {
		var l struct{ Msg string }
		require.NoError(t, json.Unmarshal(line, &l), string(line))
		all = append(all, l.Msg)
	}
	return all
}

// The one Secret that is read holds the serving key.
func TestNoSecretIsLoggedAtAnyLevelThatCanBeSet(t *testing.T) {
	const key = "bm90LWZvci1hbnlib2R5cy1leWVz"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"},"data":{"tls.key":"` + key + `"}}`))
	}))
	defer server.Close()
	logOf := func(verbosity int) string {
		var out bytes.Buffer
		logger := newLogger(&out, logJSON, verbosity)
		logEverywhere(logger, verbosity)
		t.Cleanup(klog.ClearLogger)
		client, err := kubernetes.NewForConfig(&rest.Config{
			Host: server.URL, BearerToken: key, ContentConfig: rest.ContentConfig{ContentType: "application/json"},
			Transport: &http.Transport{DisableKeepAlives: true},
		})
		require.NoError(t, err)
		secret, err := client.CoreV1().Secrets("ns").Get(klog.NewContext(t.Context(), logger), "s", metav1.GetOptions{})
		require.NoError(t, err)
		require.NotEmpty(t, secret.Data["tls.key"])
		return out.String()
	}
	assert.NotContains(t, logOf(maxVerbosity), key)
	assert.Contains(t, logOf(maxVerbosity+1), key, "if not even this, the limit could be higher")
}

func TestDevelopersLogsAreForPeople(t *testing.T) {
	for name, tc := range map[string]struct {
		options commonOptions
		want    string
	}{
		"dev":                      {commonOptions{Dev: true}, logDev},
		"dev, whatever the format": {commonOptions{Dev: true, LogFormat: logJSON}, logDev},
		"text":                     {commonOptions{LogFormat: logText}, logText},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, tc.options.logFormat()) })
	}
	var out bytes.Buffer
	newLogger(&out, logDev, 0).Info("Reason changed", "Workload", klog.KRef("shop", "api"), "reason", "InstanceCrashing")
	assert.Regexp(t, `^\d\d:\d\d:\d\d\.\d\d\d\t\x1b\[34mINFO\x1b\[0m\t\S+\tReason changed\t\{"Workload": \{"name":"api","namespace":"shop"\}, "reason": "InstanceCrashing"\}\n$`, out.String())
}

func TestTextLogsAreForPeople(t *testing.T) {
	var out bytes.Buffer
	newLogger(&out, logText, 0).WithName("webhook").Info("Serving", "server", "reviews")
	assert.Regexp(t, `^\S+\tINFO\twebhook\t\S+\tServing\t\{"server": "reviews"\}\n$`, out.String())
}

// Of a flood the first lines are written, and a sample of the rest.
func TestAFloodOfOneMessageIsSampled(t *testing.T) {
	flood := func(verbosity int) (floods, others int, dropped float64) {
		var out bytes.Buffer
		before := testutil.ToFloat64(linesDropped)
		logger := newLogger(&out, logJSON, verbosity)
		logger.Info("Capabilities not granted") // a second begins
		for range 10_000 {
			logger.Info("Capabilities not granted")
		}
		logger.Info("Reason changed")
		all := messages(t, out.Bytes())
		for _, m := range all {
			if m == "Capabilities not granted" {
				floods++
			} else {
				others++
			}
		}
		return floods, others, testutil.ToFloat64(linesDropped) - before
	}
	written, others, dropped := flood(0)
	assert.Equal(t, 10_001, written+int(dropped))
	assert.GreaterOrEqual(t, written, maxLines+10_001/keptLine-1)
	// Each second that passes meanwhile has a hundred of its own.
	assert.Less(t, written, 5_000)
	assert.Equal(t, 1, others, "another message has a count of its own")

	written, others, dropped = flood(1)
	assert.Equal(t, 10_001, written, "who asks for traces gets all")
	assert.Equal(t, 1, others)
	assert.Zero(t, dropped)
}
