package deploy

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// auditPolicy has every request noted, once, without bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

// auditLog is what the API server writes about each request it answered.
type auditLog string

// auditFlags are the API server's flags for a log of its own.
func auditFlags(t *testing.T) (auditLog, []string) {
	t.Helper()
	dir := t.TempDir()
	policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.jsonl")
	require.NoError(t, os.WriteFile(policy, []byte(auditPolicy), 0o600))
	return auditLog(log), []string{"--audit-policy-file=" + policy, "--audit-log-path=" + log}
}

// auditEvent is the part of an event that is looked at.
type auditEvent struct {
	Verb      string
	User      struct{ Username string }
	ObjectRef struct{ APIGroup, Resource, Subresource, Namespace, Name string }

	ResponseStatus struct{ Code int }
	Annotations    map[string]string
}

// mutatingWebhooks are those that were called.
func (e auditEvent) mutatingWebhooks() (called []string) {
	for key, value := range e.Annotations {
		if strings.HasPrefix(key, "mutation.webhook.admission.k8s.io/") {
			called = append(called, value)
		}
	}
	return called
}

// of returns a user's requests for resources.
func (l auditLog) of(t *testing.T, user string) (events []auditEvent) {
	t.Helper()
	file, err := os.Open(string(l))
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return events // the rest is being written
		}
		var e auditEvent
		require.NoError(t, json.Unmarshal(line, &e))
		if e.User.Username == user && e.ObjectRef.Resource != "" {
			events = append(events, e)
		}
	}
}
