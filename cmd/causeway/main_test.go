package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestDeadConnectionsAreNoticedSoon(t *testing.T) {
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "30")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "") // restores it after the test
	assert.NoError(t, os.Unsetenv("HTTP2_PING_TIMEOUT_SECONDS"))
	preferQuickDeathOfDeadConnections()
	assert.Equal(t, "30", os.Getenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS"), "what an operator set stays")
	assert.Equal(t, "1", os.Getenv("HTTP2_PING_TIMEOUT_SECONDS"))
}
